/**
 * The HTTP surface: one table of routes, the walls before it, and the OpenAPI document made from it.
 * Must never open a record, nor decide what the rooms behind it decide.
 */
export { apiRoutes } from './api-routes.ts'
export { errorAnswer } from './error-answer.ts'
export type { OwnAddresses } from './request-walls.ts'
export { sourceReader } from './source.ts'
export { SourceLimits } from './source-limits.ts'
export { type RunningServer, reservePort, startServer } from './start-server.ts'
