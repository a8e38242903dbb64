/**
 * What all daemons of one store are one broker by: the key that they prove themselves with, custom definitions and the
 * installed catalogue. In the home where the store is; sealed in the store where that is Postgres, taken there from a home once.
 * Must never make a key anew where clients may know one, nor give out what the vault does not vouch for.
 */
export { type Deployment, deploymentOfHome } from './deployment.ts'
export { deploymentOfStore } from './deployment-of-store.ts'
