type Versions = Readonly<Record<string, string>>

/** The checkout's own `package.json`, as far as it goes into the package's. */
export interface CheckoutManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly keywords: readonly string[]
  readonly license: string
  readonly private: boolean
  readonly type: string
  readonly bin: Versions
  readonly files: readonly string[]
  readonly dependencies: Versions
}

/** Brings machine code by platform, so npm installs it; all other libraries are bundled. */
const INSTALLED = '@napi-rs/keyring'

/** The package's `package.json`: exact versions, no scripts, nothing of development. The pinned Node comes by platform. */
export function packageManifest(checkout: CheckoutManifest, node: { readonly optionalDependencies: Versions }): object {
  const { name, version, description, keywords, license, private: isPrivate, type, bin, files, dependencies } = checkout
  return {
    name,
    version,
    description,
    keywords,
    license,
    private: isPrivate,
    type,
    bin,
    files,
    // Of the Node that npm runs on: Broker itself runs on the one it brings.
    engines: { node: '>=20' },
    dependencies: { [INSTALLED]: dependencies[INSTALLED] },
    optionalDependencies: node.optionalDependencies,
  }
}

/** Returns whether a module's name is that of a library which is bundled. */
export function isBundled(name: string, { dependencies }: CheckoutManifest): boolean {
  const library = Object.keys(dependencies).find((one) => name === one || name.startsWith(`${one}/`))
  return library !== undefined && library !== INSTALLED
}
