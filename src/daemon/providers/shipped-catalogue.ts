/**
 * Version of the definitions that come with this release: a catalogue file of the project that is not newer is not used. A
 * release, and a definition that was verified on a later day, makes it later.
 */
export const SHIPPED_CATALOGUE = '2026-11-23.1'

/**
 * The project's own keys, public, in PEM: catalogue files that they sign need no `--key`. Their private halves are with
 * whoever makes releases. Empty until the first release is made; a retired key is taken out, and what it signed with it.
 */
export const PROJECT_KEYS: readonly string[] = []

/**
 * SHA-256 of the definitions that come with this release. Each of them was held to all rules when this was written (`npm run
 * schema`), so a daemon that finds these very files need not do it again each time it starts.
 */
export const CHECKED_DEFINITIONS = 'gi6tGXCWIIYkeCa9kIybGWxh1Qz-aUgfDC4jpufXWPc'
