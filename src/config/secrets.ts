import { inspect } from "node:util";
import { isSecretParameter, secretsOfAddress } from "../base/address-secrets.ts";
import type { Json } from "../base/canonical-json.ts";
import { failed, ok, type Problem, type Result } from "../base/errors.ts";
import type { KnownSecrets } from "../base/known-secrets.ts";
import { isLoopback } from "../base/loopback.ts";
import { credentialOf, readSecret, SecretFailure, secretReference, type SecretPlaces } from "../http/secrets.ts";
import { isMap, mistake, nearestMark, valueAt, type Layer, type Path } from "./document.ts";
import type { Environment } from "./load.ts";

const secretName = /(?:secrets?|passwords?|tokens?|apikey|sealkey|signkey|credentials?|passphrase|authorization)$/iu;
const urlWithPassword = /^[a-z][a-z0-9+.-]*:\/\/[^/@\s]*:[^/@\s]+@/iu;

/** A possible secret must be a reference and is never repeated in a message. */
export function isSecretKey(path: Path): boolean {
  if (path.at(-1) === "kind") return false;
  if (path[0] === "sources")
    return path.includes("auth") || (path[2] === "connection" && secretName.test(String(path.at(-1))));
  return path.some((step) => typeof step === "string" && secretName.test(step));
}

/** The values of secret references. Config contains only the references; printing this object shows no value. */
export class Secrets {
  readonly #values: ReadonlyMap<string, string>;
  readonly #resolve: (reference: string) => Result<string, Problem>;
  /** All secrets, also later ones. Nothing that contains a known secret is kept or shown. */
  readonly known: KnownSecrets;
  /** Secrets written in the configuration itself. */
  readonly literals: readonly SettingPlace[];
  /** Secrets too short to recognise in other text. */
  readonly short: readonly SettingPlace[];

  constructor(
    values: ReadonlyMap<string, string>,
    resolve: (reference: string) => Result<string, Problem>,
    found: { known: KnownSecrets; literals: readonly LiteralSecret[]; short: readonly SettingPlace[] },
  ) {
    this.#values = values;
    this.#resolve = resolve;
    this.known = found.known;
    this.short = found.short;
    this.literals = found.literals.map(({ key, place }) => ({ key, place }));
    for (const { text } of found.literals) this.known.add(text);
    for (const value of values.values()) this.known.add(value);
  }

  /** `env:NAME` keeps its value from the start; `file:/path` is read again. Throws a Problem if it is missing. */
  reveal(wanted: string): string {
    const known = wanted.startsWith("env:") ? this.#values.get(wanted) : undefined;
    if (known !== undefined) return known;
    const resolved = this.#resolve(wanted);
    if (!resolved.ok) throw resolved.error;
    this.known.add(resolved.value);
    return resolved.value;
  }

  toJSON(): string {
    return "[secrets]";
  }

  [inspect.custom](): string {
    return "[secrets]";
  }
}

interface Found {
  path: Path;
  reference: string;
}

/** All references, and all secrets written literally. A local service (the sandbox) may have a literal fixed token. */
function findReferences(value: Json | undefined): { references: Found[]; literals: Path[] } {
  const references: Found[] = [];
  const literals: Path[] = [];
  const visit = (current: Json | undefined, path: Path): void => {
    if (typeof current === "string") {
      if (secretReference.test(current) && isOpenText(path)) return;
      else if (secretReference.test(current) && !inMapping(path)) references.push({ path, reference: current });
      else if (isNameOfSecret(current, path)) return;
      else if (isFixedToken(path) ? !isLocal(value, path) : secretLeaf(path) || urlWithPassword.test(current))
        literals.push(path);
    } else if (Array.isArray(current)) current.forEach((one, index) => visit(one, [...path, index]));
    else if (isMap(current)) for (const [key, one] of Object.entries(current)) visit(one, [...path, key]);
  };
  visit(value, []);
  return { references, literals };
}

/** `{password}` in a login means the secret of that name. */
function isNameOfSecret(text: string, path: Path): boolean {
  return path[0] === "sources" && path.includes("login") && /^\{[a-z][A-Za-z0-9]*\}$/u.test(text);
}

function secretLeaf(path: Path): boolean {
  const last = path.at(-1);
  return typeof last === "string" && secretName.test(last) && isSecretKey(path);
}

function isFixedToken(path: Path): boolean {
  return path.at(-1) === "fixed" && path.includes("tokens");
}

function isLocal(value: Json | undefined, path: Path): boolean {
  const base = valueAt(value, [...path.slice(0, 1), "baseUrl"]);
  return typeof base === "string" && URL.canParse(base) && isLoopback(new URL(base));
}

/** Texts in a mapping are paths and constants, never secrets. */
function inMapping(path: Path): boolean {
  return path.includes("mapping");
}

interface Resolving {
  /** A path: only secrets below it are required. */
  required: boolean | readonly string[];
  directory: string;
}

function isRequired(path: Path, { required }: Resolving): boolean {
  return typeof required === "boolean" ? required : required.every((step, index) => path[index] === step);
}

/** Replaces references in plain texts and addresses. A missing one is a problem at its place. */
export function resolveTexts(
  layer: Layer,
  environment: Environment,
  known: KnownSecrets,
  options: Resolving,
): Result<Layer, Problem[]> {
  const problems: Problem[] = [];
  const resolved = withTexts(layer, (reference, path) => {
    const place = nearestMark(layer, path)?.place ?? "configuration";
    const text = resolve(reference, { environment, directory: options.directory }, place, path.join("."));
    if (text.ok) {
      for (const part of secretsOfText(text.value, path)) known.add(part);
      return text.value;
    }
    if (isRequired(path, options)) problems.push(text.error);
    return undefined;
  });
  return problems.length > 0 ? failed(problems) : ok(resolved);
}

/** A shorter secret occurs in other words and is easy to guess. */
const fewestCharacters = 8;

/** A missing or empty reference is a problem at its place. */
export function resolveSecrets(
  layer: Layer,
  environment: Environment,
  known: KnownSecrets,
  options: Resolving,
): Result<Secrets, Problem[]> {
  const value: Json = layer.value;
  const { references, literals } = findReferences(value);
  const placeOf = (path: Path): string => nearestMark(layer, path)?.place ?? "configuration";
  const problems: Problem[] = literals.map((path) =>
    mistake(
      "config.literal-secret",
      placeOf(path),
      `\`${path.join(".")}\` contains the secret itself (it is not shown here).`,
      "Put the secret into an environment variable or another file, and write `env:NAME` or `file:/path` " +
        "here. Then change the secret, because it was in this file.",
    ),
  );
  const values = new Map<string, string>();
  const short: SettingPlace[] = [];
  for (const { path, reference: wanted } of references) {
    // Clients read token files again without the configuration's folder, so these need absolute paths.
    const directory = path.includes("tokens") ? undefined : options.directory;
    const resolved = resolve(wanted, { environment, directory }, placeOf(path), path.join("."));
    if (resolved.ok) {
      values.set(wanted, resolved.value);
      if (credentialOf(resolved.value).trim().length < fewestCharacters)
        short.push({ key: path.join("."), place: placeOf(path) });
    } else if (isRequired(path, options)) problems.push(resolved.error);
  }
  if (problems.length > 0) return failed(problems);
  return ok(
    new Secrets(
      values,
      (wanted) => {
        // A text that is no reference may be the secret itself.
        const name = secretReference.test(wanted) ? wanted : "a setting";
        return resolve(wanted, { environment, directory: options.directory }, "configuration", name);
      },
      { known, literals: literalSecrets(layer), short },
    ),
  );
}

function resolve(wanted: string, places: SecretPlaces, place: string, name: string): Result<string, Problem> {
  try {
    return ok(readSecret(wanted, places));
  } catch (thrown) {
    if (!(thrown instanceof SecretFailure)) throw thrown;
    return failed(secretProblem(thrown, wanted, places, place, name));
  }
}

function secretProblem(
  failure: SecretFailure,
  wanted: string,
  { directory }: SecretPlaces,
  place: string,
  name: string,
): Problem {
  if (failure.place === "none") {
    return mistake(
      "config.secret-reference",
      place,
      `\`${name}\` is not a reference to a secret.`,
      directory === undefined
        ? "Write `env:NAME` (letters, digits and _) or `file:/absolute/path`."
        : "Write `env:NAME` (letters, digits and _), or `file:` and " +
            "a path, which starts at the folder of the configuration.",
    );
  }
  const cure =
    failure.place === "env"
      ? `Set the environment variable ${wanted.slice("env:".length)}, then start again.`
      : failure.state === "is empty"
        ? "Write the secret into the file."
        : "Check that the file exists and that this user may read it.";
  return mistake("config.missing-secret", place, `\`${name}\` needs ${wanted}, which ${failure.state}.`, cure);
}

interface SettingPlace {
  key: string;
  place: string;
}

interface LiteralSecret extends SettingPlace {
  text: string;
}

/** Placeholders for settings that nobody needs now. */
const unread = { address: "https://not-read.invalid", text: "not-read" };

/** `query`, `headers` and addresses may contain a secret as a part, so they may be references. */
function isOpenText(path: Path): boolean {
  if (path.includes("mapping") || path.includes("deadMansSwitches")) return false;
  return isAddress(path) || isNamedValue(path);
}

/** Short texts are not hidden, because records contain them too. */
function secretsOfText(text: string, path: Path): string[] {
  const parts = isAddress(path) ? secretsOfAddress(text, { isHook: true }) : [];
  return text.length < fewestCharacters ? parts : [text, ...parts];
}

function isAddress(path: Path): boolean {
  return ["url", "baseUrl", "tokenUrl"].some((name) => name === path.at(-1));
}

function isNamedValue(path: Path): boolean {
  return ["query", "headers"].some((name) => name === path.at(-2));
}

/** Resolves references in texts; `read` may return undefined. Hash and messages keep the references. */
function withTexts(layer: Layer, read: (reference: string, path: Path) => string | undefined): Layer {
  const visit = (value: Json, path: Path): Json => {
    if (typeof value === "string") {
      if (!/^(?:env|file):/u.test(value) || !isOpenText(path)) return value;
      return read(value, path) ?? (isAddress(path) ? unread.address : unread.text);
    }
    if (Array.isArray(value)) return value.map((one, index) => visit(one, [...path, index]));
    if (!isMap(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, visit(one ?? null, [...path, key])]));
  };
  const value = visit(layer.value, []);
  return isMap(value) ? { ...layer, value } : layer;
}

function literalSecrets(layer: Layer): LiteralSecret[] {
  const found: LiteralSecret[] = [];
  const visit = (value: Json, path: Path): void => {
    if (typeof value === "string") {
      for (const text of secretsIn(value, path))
        found.push({ key: path.join("."), place: nearestMark(layer, path)?.place ?? "configuration", text });
    } else if (Array.isArray(value)) value.forEach((one, index) => visit(one, [...path, index]));
    else if (isMap(value)) for (const [key, one] of Object.entries(value)) visit(one ?? null, [...path, key]);
  };
  visit(layer.value, []);
  return found;
}

function secretsIn(text: string, path: Path): string[] {
  if (!isOpenText(path) || /^(?:env|file):/u.test(text) || /^\{\w+\}$/u.test(text)) return [];
  if (isAddress(path)) return secretsOfAddress(text, { isHook: path[0] !== "sources" && path.at(-1) === "url" });
  return isSecretParameter(String(path.at(-1)), text) ? [text] : [];
}
