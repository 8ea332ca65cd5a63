import { readFile } from "node:fs/promises";

import type { SecretSource } from "./settings.ts";

/**
 * The secret that `env:NAME` or `file:/path` names, as text, without the line end of a file; never coerced, so that "0012" stays "0012". Rejects
 * with an error that names the place only.
 */
export async function readSecret(
  source: SecretSource,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  if (source.startsWith("env:")) {
    const name = source.slice("env:".length);
    const value = environment[name];
    if (value === undefined || value === "") throw new Error(`the environment variable ${name} is not set`);
    return value;
  }
  const path = source.slice("file:".length);
  const text = (await readFile(path, "utf8")).replace(/^\uFEFF/, "").replace(/[\r\n]+$/, "");
  if (text === "") throw new Error(`the file ${path} is empty`);
  return text;
}
