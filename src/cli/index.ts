/**
 * The command line: reads what was typed, asks the daemon, and says the outcome to a person or a program.
 * Must never import the daemon, open a browser at anything but http(s), take a secret as an argument, or print one.
 */
export { main } from './main.ts'
