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

/**
 * Whether the value at this path may be a secret: then it has to be a reference, and it is never repeated in a message.
 */
export function isSecretKey(path: Path): boolean {
  if (path.at(-1) === "kind") return false;
  if (path[0] === "sources")
    return path.includes("auth") || (path[2] === "connection" && secretName.test(String(path.at(-1))));
  return path.some((step) => typeof step === "string" && secretName.test(step));
}

/**
 * The values of the references of a configuration. Kept apart from Config, which holds `env:NAME` or `file:/path` only;
 * printing or serialising this object shows no value.
 */
export class Secrets {
  readonly #values: ReadonlyMap<string, string>;
  readonly #resolve: (reference: string) => Result<string, Problem>;
  /** All of them, and those that the program is given later: nothing from outside is kept or shown with one. */
  readonly known: KnownSecrets;
  /** Those that are written out in the configuration itself. */
  readonly literals: readonly SettingPlace[];
  /** Those that are too short to be told from the words around them. */
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

  /**
   * The secret behind `env:NAME` (as it was at the start) or `file:/path` (read again, because such files are replaced
   * while the program runs), by the rule of `readSecret`. Throws a Problem where there is none.
   */
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

/** Where a reference stands and what it says. */
interface Found {
  path: Path;
  reference: string;
}

/**
 * Every reference of a configuration, `env:NAME` or `file:/path`, and every secret that was written out instead of
 * referred to. A fixed token may stand there for a
 * service on this machine (the sandbox).
 */
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

/** `{password}` in a log-in stands for the secret of that name. */
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

/** Whether the service that a path belongs to runs on this machine. */
function isLocal(value: Json | undefined, path: Path): boolean {
  const base = valueAt(value, [...path.slice(0, 1), "baseUrl"]);
  return typeof base === "string" && URL.canParse(base) && isLoopback(new URL(base));
}

/** A mapping says where in a record a field stands; its texts are paths and constants, never secrets. */
function inMapping(path: Path): boolean {
  return path.includes("mapping");
}

/** How references are resolved. */
interface Resolving {
  /** Whether all secrets have to be there, or those below a path. */
  required: boolean | readonly string[];
  directory: string;
}

function isRequired(path: Path, { required }: Resolving): boolean {
  return typeof required === "boolean" ? required : required.every((step, index) => path[index] === step);
}

/**
 * The settings with each plain text and address that a reference stands for: they are checked like all others. What is
 * missing is a problem at the place of the reference.
 */
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

/** Fewest characters of a secret: a shorter one is a part of words that hold none, and is soon guessed. */
const fewestCharacters = 8;

/**
 * Resolves every reference of a configuration. What is missing or empty is a problem at the place of the reference.
 */
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
    // Tokens are read again by the clients, which know no folder of the configuration: their files are named
    // absolutely.
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
        // What is no reference may be the secret itself and must not be repeated.
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

/** A setting and where it is written. */
interface SettingPlace {
  /** `sources.crm.streams.orders.query.api_key` */
  key: string;
  /** `crm-sync.yaml:12:7` */
  place: string;
}

/** A secret that is written out in the configuration itself. Its text is in no message. */
interface LiteralSecret extends SettingPlace {
  text: string;
}

/** What the settings of `withTexts` stand for until somebody needs them. */
const unread = { address: "https://not-read.invalid", text: "not-read" };

/**
 * Whether a setting is a plain text or an address which may hold a secret, so that `env:NAME` and `file:/path` stand
 * for it: values of `query` and `headers`, and every address. What is a secret as a whole is a reference of its own.
 */
function isOpenText(path: Path): boolean {
  if (path.includes("mapping") || path.includes("deadMansSwitches")) return false;
  return isAddress(path) || isNamedValue(path);
}

/** What of such a text is not to be seen. A short one is a number or a word that records hold too. */
function secretsOfText(text: string, path: Path): string[] {
  const parts = isAddress(path) ? secretsOfAddress(text, { isHook: true }) : [];
  return text.length < 8 ? parts : [text, ...parts];
}

function isAddress(path: Path): boolean {
  return ["url", "baseUrl", "tokenUrl"].some((name) => name === path.at(-1));
}

function isNamedValue(path: Path): boolean {
  return ["query", "headers"].some((name) => name === path.at(-2));
}

/**
 * The settings with the texts that such references stand for; `read` gives one, or undefined where it is not needed and
 * not there. The configuration knows them only after this, so that its hash and what is said of it hold references.
 */
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

/** The secrets that stand in such settings themselves. */
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
