/**
 * The command line: one table of commands, and for each a file that does it. Must never import the daemon, hold a
 * credential longer than it takes to send it, or print what a server said without escaping it.
 */
export { createProgram } from './program.ts'
