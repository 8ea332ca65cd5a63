import { isJsonObject, toJson } from "../base/canonical-json.ts";
import type { Json } from "../base/canonical-json.ts";
import { isSecretKey } from "../config/secrets.ts";
import type { Secrets } from "../config/secrets.ts";
import type { Application } from "./application.ts";

/** A setting in effect, as a page may show it. */
export interface ShownSetting {
  key: string;
  value: string;
  /** `file:line:column`, the name of a variable or of an option; undefined: nobody wrote it, it is the default. */
  from: string | undefined;
}

const notShown = "(not shown)";
/** Shorter texts are found in words that hold no secret. */
const shortestSecret = 4;

/**
 * Every setting in effect, by section, with where it comes from. What may hold a secret is shown as a reference alone:
 * never what an `env:NAME` or a file holds, never a token that stands in the file, and no text that holds one of the
 * secrets of this program.
 */
export function shownSettings(
  application: Pick<Application, "config" | "secrets" | "writtenAt">,
): { section: string; settings: ShownSetting[] }[] {
  const mask = maskerOf(application.secrets);
  const all = toJson(application.config);
  return Object.entries(isJsonObject(all) ? all : {}).map(([section, value]) => ({
    section,
    settings: [...leaves(value ?? null, [section])].map(({ path, leaf }) => ({
      key: path.join("."),
      value: mask(leafText(leaf, path)),
      from: application.writtenAt(path),
    })),
  }));
}

/** Blanks a text that holds a secret of the configuration. */
export function maskerOf(secrets: Secrets): (text: string) => string {
  const known = secrets.values().filter((value) => value.length >= shortestSecret);
  return (text) => (known.some((value) => text.includes(value)) ? notShown : text);
}

type Path = readonly (string | number)[];

function* leaves(value: Json, path: Path): Generator<{ path: Path; leaf: Json }, void, void> {
  const members = Array.isArray(value)
    ? value.map((one, index): [number, Json] => [index, one])
    : isJsonObject(value)
      ? Object.entries(value).map(([key, one]): [string, Json] => [key, one ?? null])
      : undefined;
  if (members === undefined || members.length === 0) {
    yield { path, leaf: value };
    return;
  }
  for (const [step, one] of members) yield* leaves(one, [...path, step]);
}

function leafText(leaf: Json, path: Path): string {
  if (typeof leaf !== "string") return typeof leaf === "object" && leaf !== null ? "none" : JSON.stringify(leaf);
  if (path.includes("mapping")) return leaf;
  if (/^(?:env|file):/u.test(leaf)) return leaf;
  if (leaf.startsWith("command:")) return "command: (not shown)";
  const last = path.at(-1);
  if ((last === "env" || last === "file") && path.includes("tokens")) return `${last}:${leaf}`;
  if (isSecretKey(path) || path.includes("headers")) return notShown;
  return withoutSecretsOfUrl(leaf);
}

/** A user, a password and what is asked for in an address may let somebody in. */
function withoutSecretsOfUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//iu.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  const isPlain = url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  return isPlain ? text : `${url.protocol}//${url.host}${url.pathname} ${notShown}`;
}
