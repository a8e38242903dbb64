/**
 * One command behind the proxy: a key and a folder that live as long as it does, its environment, its signals and its
 * exit code (contract sections 9 and 12, the table in section 3 of the proxy's notes).
 * Must never give the child a secret, write one to a file, or print on its standard output.
 */
export { type RunOptions, runCommand } from './run-command.ts'
