/** Whether each part does its work, tried out in small for one caller. Must never mend what it finds broken. */
export { checkReadiness, healthOf, type ReadinessOptions, suspendedReadiness } from './check-readiness.ts'
