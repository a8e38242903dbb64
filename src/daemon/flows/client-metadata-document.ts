const PATH = '/oauth/client-metadata.json'

/** How we call ourselves to people who are asked whether they trust us. */
export const CLIENT_NAME = 'Broker'

/** The client id at servers that read who we are from this URL. */
export function clientMetadataUrl(publicUrl: string): string {
  return `${publicUrl}${PATH}`
}

/** Returns where browsers come back to. @param baseUrl of this daemon, without a slash at its end */
export function redirectUriOf(baseUrl: string): string {
  return `${baseUrl}/auth/callback/oauth`
}

/**
 * Returns what is to be served, as JSON, at `{publicUrl}/oauth/client-metadata.json` (OAuth Client ID Metadata Document).
 * @param publicUrl without a slash at its end
 */
export function clientMetadataDocument(publicUrl: string): Readonly<Record<string, unknown>> {
  return {
    client_id: clientMetadataUrl(publicUrl),
    client_name: CLIENT_NAME,
    client_uri: publicUrl,
    redirect_uris: [redirectUriOf(publicUrl)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
}
