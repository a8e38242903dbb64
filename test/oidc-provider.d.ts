/** The part of oidc-provider that the fixture uses; the package has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Context {
    readonly path: string
    readonly status: number
    readonly oidc?: { readonly params?: Readonly<Record<string, string | undefined>> }
  }

  interface Grant {
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }

  export interface OpaqueToken {
    generateTokenId(): string
  }

  export interface Interaction {
    readonly prompt: { readonly name: 'login' | 'consent' }
    readonly params: Readonly<Record<string, string | undefined>>
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    readonly Grant: new (of: {
      readonly accountId: string
      readonly clientId: string
    }) => Grant
    readonly AccessToken: { readonly prototype: OpaqueToken }
    readonly ClientCredentials: { readonly prototype: OpaqueToken }
    readonly RefreshToken: { readonly prototype: OpaqueToken }
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}
