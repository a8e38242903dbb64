/**
 * One request and its answer: asks for the credential, injects, sends, and relays what comes back. Must never send a
 * request bare whose credential was refused, and never ask the daemon but by the questions it is given.
 */
export {
  type AuditEntry,
  type AuditTrail,
  type ChildSide,
  Exchange,
  type Order,
  type Questions,
  type Services,
} from './exchange.ts'
export { signedOrder } from './signed-order.ts'
