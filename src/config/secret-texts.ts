import type { Json } from "../base/canonical-json.ts";
import { isSecretParameter, secretsOfAddress } from "../base/address-secrets.ts";
import { isMap, nearestMark } from "./layer.ts";
import type { Layer, Path } from "./layer.ts";

/** A setting and where it is written. */
export interface SettingPlace {
  /** `sources.crm.streams.orders.query.api_key` */
  key: string;
  /** `crm-sync.yaml:12:7` */
  place: string;
}

/** A secret that is written out in the configuration itself. Its text is in no message. */
export interface LiteralSecret extends SettingPlace {
  text: string;
}

/** What the settings of `withTexts` stand for until somebody needs them. */
const unread = { address: "https://not-read.invalid", text: "not-read" };

/**
 * Whether a setting is a plain text or an address which may hold a secret, so that `env:NAME` and `file:/path` stand
 * for it: values of `query` and `headers`, and every address. What is a secret as a whole is a reference of its own.
 */
export function isOpenText(path: Path): boolean {
  if (path.includes("mapping") || path.includes("deadMansSwitches")) return false;
  return isAddress(path) || isNamedValue(path);
}

/** What of such a text is not to be seen. A short one is a number or a word that records hold too. */
export function secretsOfText(text: string, path: Path): string[] {
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
export function withTexts(layer: Layer, read: (reference: string, path: Path) => string | undefined): Layer {
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
export function literalSecrets(layer: Layer): LiteralSecret[] {
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
