/**
 * What stands between the command of a run and the rest of the machine: the shield, which hides what is Broker's, and the
 * sandbox, which leaves a command its folder and its proxy (decisions/0028).
 * Must never be the reason that a command sees more than it asked for: what cannot be had is said, not left out in silence.
 */
export {
  ATTACKER,
  type AttackOrders,
  type AttackTargets,
  attacksOn,
  type Verdict,
} from './attacks.ts'
export { keyringSockets } from './hidden-places.ts'
export {
  type Enclosure,
  type IsolationLevel,
  IsolationUnavailable,
  type Sandbox,
  type SandboxWay,
} from './level.ts'
export { makeSandbox } from './sandbox.ts'
export { raiseShield } from './shield.ts'
