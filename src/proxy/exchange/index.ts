/**
 * One request and its answer, as a union of states: asks for the credential, injects it, sends, and has what comes back
 * relayed. Knows messages alone. Must never touch a socket or a byte of what passes, never send a request bare whose credential
 * was refused, and never ask the daemon but by the questions it is given.
 */
export { Exchange } from './exchange.ts'
export type { AuditEntry, AuditTrail, Order, Questions, Services, SignedOrder } from './order.ts'
