/**
 * A filter of system calls (seccomp(2), classic BPF) that lets all pass but two requests of ioctl(2): TIOCSTI and TIOCLINUX put
 * characters into a terminal as if its user had typed them. A command in the sandbox keeps its terminal, and its shell outside
 * would read them. Undefined where the numbers are not known: on other processors.
 */
export function terminalFilter(processor: string = process.arch): Buffer | undefined {
  const native = NATIVE[processor]
  if (native === undefined) return undefined
  const known = [native, ...(processor === 'x64' ? [I386] : [])]
  // Each looks at its own architecture, and passes on to the next where it is another.
  const perArchitecture = known.flatMap(({ architecture, ioctl }) => [
    statement(LOAD, ARCHITECTURE),
    jump(architecture, 0, 8),
    statement(LOAD, NUMBER),
    // The numbers of x32 are those of x64 with a bit more.
    statement(AND, ~X32_BIT >>> 0),
    jump(ioctl, 0, 3),
    statement(LOAD, REQUEST),
    jump(TIOCSTI, 2, 0),
    jump(TIOCLINUX, 1, 0),
    statement(RETURN, ALLOW),
  ])
  return Buffer.concat(withRefusals(perArchitecture, known.length))
}

const NATIVE: Readonly<Record<string, Calls>> = {
  x64: { architecture: 0xc000_003e, ioctl: 16 },
  arm64: { architecture: 0xc000_00b7, ioctl: 29 },
}
const I386: Calls = { architecture: 0x4000_0003, ioctl: 54 }

interface Calls {
  /** AUDIT_ARCH_… of linux/audit.h */
  readonly architecture: number
  readonly ioctl: number
}

/** struct seccomp_data: nr, arch, instruction_pointer, args. The lower half of the second argument. */
const NUMBER = 0
const ARCHITECTURE = 4
const REQUEST = 24

const X32_BIT = 0x4000_0000
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c

const LOAD = 0x20
const AND = 0x54
const EQUALS = 0x15
const RETURN = 0x06
const ALLOW = 0x7fff_0000
const REFUSE = 0x0005_0001

function statement(code: number, value: number): Buffer {
  return instruction(code, [0, 0], value)
}

/** @param yes @param no how many instructions are left out */
function jump(value: number, yes: number, no: number): Buffer {
  return instruction(EQUALS, [yes, no], value)
}

function instruction(code: number, [yes, no]: readonly [number, number], value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(yes, 2)
  bytes.writeUInt8(no, 3)
  bytes.writeUInt32LE(value, 4)
  return bytes
}

/** Behind each architecture's own part stands its refusal; what is of none of them passes. */
function withRefusals(parts: readonly Buffer[], count: number): readonly Buffer[] {
  const length = parts.length / count
  const all = Array.from({ length: count }, (_, at) => [
    ...parts.slice(at * length, (at + 1) * length),
    statement(RETURN, REFUSE),
  ])
  return [...all.flat(), statement(RETURN, ALLOW)]
}
