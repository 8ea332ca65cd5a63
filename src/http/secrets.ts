import { isAbsolute, resolve } from "node:path";
import { messageOf } from "../base/errors.ts";
import { readRegular } from "../base/regular-file.ts";

/** The form of a reference to a secret. */
export const secretReference = /^(env|file):(.*)$/su;
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/u;
const largestSecretBytes = 65_536;

type SecretPlace = "env" | "file" | "command" | "none";
const placeWords = { env: "environment variable", file: "file", command: "command" } as const;

/** A reference that leads to no secret. The text names the place and never what stands there. */
export class SecretFailure extends Error {
  /**
   * The environment variable, the file or the program; `none` where the text is no reference, which may be a secret
   * itself and is not repeated.
   */
  readonly place: SecretPlace;
  /** What is wrong there, in words: "is not set". */
  readonly state: string;

  constructor(place: SecretPlace, state: string, target = "") {
    super(place === "none" ? "there is no reference to a secret" : `the ${placeWords[place]} ${target} ${state}`);
    this.place = place;
    this.state = state;
  }
}

export interface SecretPlaces {
  /** The environment as it was read at the start. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Where relative paths start; without it a path is absolute. */
  directory?: string | undefined;
}

/**
 * The secret that `env:NAME` or `file:/path` names; throws SecretFailure. One rule for services, sources and the
 * ledger: it is text, never coerced ("0012" stays "0012"), not empty; a file is UTF-8 of at most 64 KiB, and one line
 * end comes off its end. Nothing else does: a sealing key that lost a character would open nothing. What is sent as a
 * credential passes through `credentialOf` as well.
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

/**
 * A secret as it is sent: a token, a password or a client secret holds neither a byte order mark nor a line end (RFC
 * 6749 A, RFC 7617 2), so what an editor put around it comes off. Empty where nothing else is there.
 */
export function credentialOf(secret: string): string {
  return secret.replace(/^\uFEFF/u, "").replace(/[\r\n]+$/u, "");
}
