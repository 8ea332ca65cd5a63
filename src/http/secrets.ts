import { isAbsolute, resolve } from "node:path";
import { messageOf } from "../base/errors.ts";
import { readRegular } from "../base/regular-file.ts";

export const secretReference = /^(env|file):(.*)$/su;
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/u;
const largestSecretBytes = 65_536;

type SecretPlace = "env" | "file" | "command" | "none";
const placeWords = { env: "environment variable", file: "file", command: "command" } as const;

/** The text names the place, never the secret. */
export class SecretFailure extends Error {
  /** `none`: the text is not a reference. It may be a secret, so it is not repeated. */
  readonly place: SecretPlace;
  readonly state: string;

  constructor(place: SecretPlace, state: string, target = "") {
    super(place === "none" ? "there is no reference to a secret" : `the ${placeWords[place]} ${target} ${state}`);
    this.place = place;
    this.state = state;
  }
}

export interface SecretPlaces {
  environment: Readonly<Record<string, string | undefined>>;
  /** Relative paths start here. Without it a path must be absolute. */
  directory?: string | undefined;
}

/**
 * Throws SecretFailure. A secret is text, never coerced ("0012" stays "0012"), and not empty. A file is UTF-8 of at
 * most 64 KiB. Only one line end at its end is removed: a sealing key that lost a character would open nothing.
 * Credentials also pass `credentialOf`.
 */
export function readSecret(reference: string, places: SecretPlaces): string {
  const [, kind, target = ""] = secretReference.exec(reference) ?? [];
  if (kind === "env" && variableName.test(target)) {
    const value = places.environment[target];
    if (value === undefined) throw new SecretFailure("env", "is not set", target);
    if (value === "") throw new SecretFailure("env", "is empty", target);
    return value;
  }
  if (kind === "file" && target !== "" && (isAbsolute(target) || places.directory !== undefined))
    return readSecretFile(resolve(places.directory ?? "/", target));
  throw new SecretFailure("none", "is no reference to a secret");
}

function readSecretFile(path: string): string {
  let text: string;
  try {
    const bytes = readRegular(path);
    if (bytes.length > largestSecretBytes) throw new RangeError(`${bytes.length} bytes are too many for a secret`);
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/u, "");
  } catch (thrown) {
    const why = thrown instanceof Error && "code" in thrown ? String(thrown.code) : messageOf(thrown);
    throw new SecretFailure("file", `cannot be read (${why})`, path);
  }
  if (text === "") throw new SecretFailure("file", "is empty", path);
  return text;
}

/** Without the byte order mark and line end of an editor (RFC 6749 A, RFC 7617 2). May be empty. */
export function credentialOf(secret: string): string {
  return secret.replace(/^\uFEFF/u, "").replace(/[\r\n]+$/u, "");
}
