/**
 * Audit events in the forms that other programs read: lines of JSON, a spreadsheet, CEF, OCSF and OpenTelemetry. Pure: what
 * an event says is never made more or less here, but for what a form has no place for.
 */
export { CSV_HEADER, csvLine } from './csv.ts'
export { exporterFor } from './exporter.ts'
