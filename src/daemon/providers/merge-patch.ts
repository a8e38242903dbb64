/** JSON with members by name. */
export interface JsonObject {
  readonly [member: string]: unknown
}

/** Applies a JSON Merge Patch (RFC 7396): members that are null go, objects are merged, all else takes the place of what was there. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = Object.entries(patch).flatMap(([name, value]) => {
    if (value === null) return []
    const before = target[name]
    return [[name, isJsonObject(value) ? mergePatch(isJsonObject(before) ? before : {}, value) : value] as const]
  })
  const untouched = Object.entries(target).filter(([name]) => !(name in patch))
  return Object.fromEntries([...untouched, ...merged])
}

/** Returns the merge patch by which one becomes the other: nothing in either is null. */
export function patchBetween(before: JsonObject, after: JsonObject): JsonObject {
  const gone = Object.keys(before).filter((name) => !(name in after))
  const changed = Object.entries(after).flatMap(([name, value]) => {
    const was = before[name]
    if (JSON.stringify(was) === JSON.stringify(value)) return []
    return [[name, isJsonObject(was) && isJsonObject(value) ? patchBetween(was, value) : value] as const]
  })
  return Object.fromEntries([...gone.map((name) => [name, null] as const), ...changed])
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
