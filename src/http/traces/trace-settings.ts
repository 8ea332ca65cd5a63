import { readFileSync } from "node:fs";
import { isPlainHttp } from "../../base/loopback.ts";

/** Where spans go, which of them, and as whom. */
export interface TraceSettings {
  endpoint: URL;
  /** Headers of each export; their values are secrets. */
  headers: Readonly<Record<string, string>>;
  /** PEM of the collector's certificate authority. */
  certificateAuthority: string | undefined;
  timeoutMs: number;
  /** What the operator says of this program in all its spans. */
  resource: Readonly<Record<string, string>>;
  /** Share of the traces that is kept. */
  share: number;
}

/** A variable that cannot be followed. Its value is not repeated: it may be a secret. */
export interface BadVariable {
  variable: string;
  why: string;
  cure: string;
}

class Refusal extends Error {
  readonly bad: BadVariable;

  constructor(variable: string, why: string, cure: string) {
    super(why);
    this.bad = { variable, why, cure };
  }
}

type Variables = Readonly<Record<string, string | undefined>>;

const off = { kind: "off" } as const;

/**
 * What the `OTEL_*` variables ask for. Without an address of a collector and without `OTEL_TRACES_EXPORTER=otlp`
 * nothing is traced.
 */
export function traceSettingsOf(
  variables: Variables,
): { kind: "off" } | { kind: "bad"; bad: BadVariable } | { kind: "on"; settings: TraceSettings } {
  // An empty variable counts as one that is not set.
  const given = (name: string): string | undefined => variables[name]?.trim() || undefined;
  try {
    if (isDisabled(given("OTEL_SDK_DISABLED"))) return off;
    const exporter = given("OTEL_TRACES_EXPORTER");
    if (exporter === "none") return off;
    if (exporter !== undefined && exporter !== "otlp")
      throw new Refusal("OTEL_TRACES_EXPORTER", "names an exporter that is not there", "write otlp or none");
    const named = firstOf(given, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
    if (exporter === undefined && named === undefined) return off;
    checkProtocol(firstOf(given, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"));
    const share = shareOf(given);
    if (share === 0) return off;
    const endpoint = endpointOf(named);
    return {
      kind: "on",
      settings: {
        endpoint,
        headers: headersOf(given, endpoint),
        certificateAuthority: authorityOf(given),
        timeoutMs: timeoutOf(given),
        resource: resourceOf(given),
        share,
      },
    };
  } catch (error) {
    if (error instanceof Refusal) return { kind: "bad", bad: error.bad };
    throw error;
  }
}

type Given = (name: string) => string | undefined;

interface Named {
  variable: string;
  text: string;
}

/** The first of these variables that is set. */
function firstOf(given: Given, ...names: readonly string[]): Named | undefined {
  for (const variable of names) {
    const text = given(variable);
    if (text !== undefined) return { variable, text };
  }
  return undefined;
}

function isDisabled(text: string | undefined): boolean {
  const word = text?.toLowerCase();
  if (word === undefined || word === "false") return false;
  if (word === "true") return true;
  throw new Refusal("OTEL_SDK_DISABLED", "is neither true nor false", "write true or false");
}

function checkProtocol(named: Named | undefined): void {
  if (named === undefined || named.text === "http/json") return;
  throw new Refusal(
    named.variable,
    "asks for a form other than http/json, which is the only one that this program speaks",
    "write http/json, or leave it out: a collector takes JSON at the same address as http/protobuf (port 4318)",
  );
}

function endpointOf(named: Named | undefined): URL {
  const { variable, text } = named ?? { variable: "OTEL_EXPORTER_OTLP_ENDPOINT", text: "http://localhost:4318" };
  const cure = "write https://HOST:4318, or http:// for a collector of your own network";
  if (!/^https?:\/\//iu.test(text) || !URL.canParse(text)) throw new Refusal(variable, "is no http address", cure);
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw new Refusal(
      variable,
      "holds a user or a password",
      "put what proves who asks into OTEL_EXPORTER_OTLP_HEADERS",
    );
  // The address of all signals is a base, that of traces is the whole one.
  if (variable === "OTEL_EXPORTER_OTLP_ENDPOINT") url.pathname = `${url.pathname.replace(/\/+$/u, "")}/v1/traces`;
  return url;
}

function headersOf(given: Given, endpoint: URL): Record<string, string> {
  const named = firstOf(given, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS");
  if (named === undefined) return {};
  const pairs = pairsOf(named);
  for (const [name, value] of pairs)
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/iu.test(name) || !/^[\t\x20-\x7e]*$/u.test(value))
      throw new Refusal(named.variable, "holds what cannot be a header", "write NAME=VALUE,NAME=VALUE");
  if (isPlainHttp(endpoint.href))
    throw new Refusal(named.variable, "would go over plain http, where everybody on the way can read it", "use https");
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

/** `a=b,c=d`, with values that may be percent-encoded. */
function pairsOf({ variable, text }: Named): [string, string][] {
  const parts = text.split(",").filter((part) => part.trim() !== "");
  return parts.map((part) => {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (at < 1 || name === "") throw new Refusal(variable, "is no list of pairs", "write NAME=VALUE,NAME=VALUE");
    try {
      return [decodeURIComponent(name), decodeURIComponent(part.slice(at + 1).trim())];
    } catch {
      throw new Refusal(variable, "holds a % that encodes nothing", "write %25 for it");
    }
  });
}

function resourceOf(given: Given): Record<string, string> {
  const text = given("OTEL_RESOURCE_ATTRIBUTES");
  const pairs = text === undefined ? [] : pairsOf({ variable: "OTEL_RESOURCE_ATTRIBUTES", text });
  const name = given("OTEL_SERVICE_NAME");
  return {
    "service.name": "crm-sync",
    ...Object.fromEntries(pairs),
    ...(name !== undefined && { "service.name": name }),
  };
}

/** No trace comes from elsewhere, so that a sampler that asks its parent decides as its root does. */
function shareOf(given: Given): number {
  const sampler = (given("OTEL_TRACES_SAMPLER") ?? "parentbased_always_on").replace(/^parentbased_/u, "");
  switch (sampler) {
    case "always_on":
      return 1;
    case "always_off":
      return 0;
    case "traceidratio": {
      const text = given("OTEL_TRACES_SAMPLER_ARG") ?? "1";
      const share = Number(text);
      if (share >= 0 && share <= 1) return share;
      throw new Refusal("OTEL_TRACES_SAMPLER_ARG", "is no share from 0 to 1", "write 0.1 for a tenth of the traces");
    }
    default:
      throw new Refusal(
        "OTEL_TRACES_SAMPLER",
        "names a sampler that is not there",
        "write always_on, always_off or traceidratio, each with or without parentbased_ before it",
      );
  }
}

function timeoutOf(given: Given): number {
  const named = firstOf(given, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT");
  if (named === undefined) return 10_000;
  const ms = Number(named.text);
  if (Number.isInteger(ms) && ms > 0 && ms <= 300_000) return ms;
  throw new Refusal(named.variable, "is no number of milliseconds", "write a whole number such as 10000");
}

function authorityOf(given: Given): string | undefined {
  const named = firstOf(given, "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE");
  if (named === undefined) return undefined;
  try {
    return readFileSync(named.text, "utf8");
  } catch {
    throw new Refusal(named.variable, "names a file that cannot be read", "name a PEM file that this user may read");
  }
}
