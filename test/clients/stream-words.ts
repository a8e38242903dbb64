/** What a stream begins with. The service sends nothing more until the client has shown it. */
export const FIRST = 'firstword'
export const LAST = 'lastword'
