import type { RecordRow } from '../store/index.ts'
import type { KeyHierarchy } from './key-hierarchy.ts'

/** Everything a record is bound to: one that is swapped, moved, renamed or edited does not open. */
export function recordContext(
  keys: KeyHierarchy,
  ref: { readonly vaultId: string; readonly kind: string; readonly id: string },
  { version, binding, term }: Pick<RecordRow, 'version' | 'binding' | 'term'>,
): readonly string[] {
  return ['broker/record/v1', keys.deploymentId, ref.vaultId, ref.kind, ref.id, String(version), binding, String(term)]
}
