type Versions = Readonly<Record<string, string>>

/** The checkout's own `package.json`, as far as it goes into the package's. */
export interface CheckoutManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly private: boolean
  readonly type: string
  readonly bin: Versions
  readonly files: readonly string[]
  readonly dependencies: Versions
}

export interface PackageManifest extends CheckoutManifest {
  readonly engines: Versions
  readonly optionalDependencies: Versions
}

interface Locked {
  readonly version?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly link?: boolean
  readonly engines?: unknown
}

export interface Lock {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, Locked>>
}

/** The package's `package.json`: exact versions, no scripts, nothing of development. The pinned Node comes by platform. */
export function packageManifest(checkout: CheckoutManifest, node: { optionalDependencies: Versions }): PackageManifest {
  const { name, version, description, license, private: isPrivate, type, bin, files, dependencies } = checkout
  return {
    name,
    version,
    description,
    license,
    private: isPrivate,
    type,
    bin,
    files,
    // Of the Node that npm runs on: Broker itself runs on the one it brings.
    engines: { node: '>=20' },
    dependencies,
    optionalDependencies: node.optionalDependencies,
  }
}

/**
 * What the checkout has locked, without what is for development. With it npm installs exactly what was tested, and below
 * the package's own folder: beside it, the `node` among it would become the `node` of a project's scripts.
 */
export function packageShrinkwrap(manifest: PackageManifest, { lockfileVersion, packages }: Lock): object {
  const { name, version, license, bin, engines, dependencies, optionalDependencies } = manifest
  const shipped = Object.entries(packages).filter(([path, { dev, link }]) => isInstalled(path) && !dev && !link)
  const unclear = shipped.filter(([, { devOptional }]) => devOptional).map(([path]) => path)
  if (unclear.length > 0) throw new Error(`For development, and for some platforms otherwise: ${unclear.join(', ')}`)
  const own = { name, version, license, dependencies, bin, engines, optionalDependencies }
  return {
    name,
    version,
    lockfileVersion,
    requires: true,
    packages: { '': own, ...Object.fromEntries(shipped.map(([path, locked]) => [path, withoutEngines(locked)])) },
  }
}

function isInstalled(path: string): boolean {
  return path.startsWith('node_modules/')
}

/** They run on the Node that is brought; npm would compare with its own, and warn. */
function withoutEngines({ engines, ...locked }: Locked): Locked {
  return locked
}
