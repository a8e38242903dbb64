/**
 * Before `npm test`: on a bare Debian, as root, installs what the suites use beyond what npm brings. Elsewhere, or where that
 * fails, it says what is left out. It never fails the run, and is quick where everything is there.
 */
import { type Part, parts, whyNot } from './available.ts'
import { installDebianPackages, mayInstallDebianPackages } from './debian-packages.ts'

const all = Object.keys(parts) as readonly Part[]
const missing = all.filter((part) => whyNot(part) !== false)

if (missing.length > 0 && mayInstallDebianPackages()) {
  installDebianPackages(
    missing.flatMap((part) => parts[part].packages),
    say,
  )
}
for (const part of all) {
  const reason = whyNot(part)
  if (reason !== false) say(`suites that need it are left out: ${reason}`)
}

function say(sentence: string): void {
  process.stdout.write(`prepare: ${sentence}\n`)
}
