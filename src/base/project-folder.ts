import { join } from "node:path";

/**
 * Where package.json and the folder `config` stand. Two folders up, from this file as from one of the bundle
 * (`dist/NAME`).
 */
export const projectFolder = join(import.meta.dirname, "../..");
