import { connect } from "node:net";
import { Client } from "undici";
import type { Person } from "../../src/web/access/person.ts";
import { Draws } from "../simulation/timeline.ts";
import type { World } from "../support/cli.ts";
import { hostileTexts, intrusions, waysOn, type FoundForm } from "../support/intruders.ts";
import { servePages, type ServedPages } from "../support/served-pages.ts";
import { privateText } from "../support/world/crm.ts";

/** One request as it leaves. */
interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | undefined;
}

interface Answered {
  status: number;
  type: string;
  text: string;
}

/** Paths that stand before the check of who asks. */
const before = ["/", "/login", "/logout", "/login/link/x", "/assets/x/y", "/livez", "/healthz", "/metrics"];
const methods = ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "PROPFIND", "TRACE", "QUERY"];
const names = [
  "q",
  "page",
  "before",
  "after",
  "cursor",
  "from",
  "to",
  "month",
  "period",
  "kind",
  "format",
  "job",
  "state",
];
const more = [
  "stream",
  "reason",
  "run",
  "limit",
  "sort",
  "to[]",
  "__proto__",
  "constructor",
  "csrf",
  "private",
  "by",
  "",
];

const hostileValues: readonly string[] = [
  ...hostileTexts,
  "",
  " ",
  "0",
  "-1",
  "1e309",
  "NaN",
  "9".repeat(400),
  "null",
  "undefined",
  "[object Object]",
  "__proto__",
  "constructor",
  "../../../../etc/passwd",
  "..%2f..%2fledger.db",
  "~.",
  "\u0000",
  "a\u0000b",
  "\r\nset-cookie: x=1",
  "\u202eevil\u2066",
  "\ud800",
  "🜁".repeat(40),
  "' or '1'='1",
  "1; drop table run; --",
  "%' union select 1,2,3 --",
  'fts"near(',
  "*",
  "%",
  "_",
  "2026-13-45T99:99:99Z",
  "2026-00",
  "999999-12",
  "-271821-04-20",
  "x".repeat(7_000),
  "é".repeat(500),
];

/** Raw bytes that no client would send. */
const rawRequests = [
  "GET /today HTTP/1.1\r\n\r\n",
  "GET /today\u0000 HTTP/1.1\r\nhost: localhost\r\n\r\n",
  "GET http://elsewhere.example.com/today HTTP/1.1\r\nhost: localhost\r\n\r\n",
  "GET // HTTP/1.1\r\nhost: localhost\r\n\r\n",
  "GET /%zz%c0%ae%ff?%zz=%ff HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  "GET /today HTTP/1.1\r\nhost: a b\r\nhost: c\r\n\r\n",
  "GET /today HTTP/1.1\r\nhost: ]:[\r\nconnection: close\r\n\r\n",
  "POST /today HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  "POST /logout HTTP/1.1\r\nhost: localhost\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 3\r\n\r\n--x",
  `GET /search?q=${"a".repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
] as const;

/** Somebody who follows what pages offer and changes it into what no page offers. */
export class HostileVisitor {
  /** Pages that were answered with 200. */
  pagesSeen = 0;
  readonly #draws: Draws;
  readonly #pages: ServedPages;
  readonly #client: Client;
  readonly #mayAsk: boolean;
  readonly #patterns: readonly { method: string; path: string }[];
  readonly #ids: readonly string[];
  readonly #links = new Set<string>();
  readonly #forms = new Map<string, FoundForm>();
  readonly #wrong = new Map<string, string>();

  private constructor(w: World, pages: ServedPages, options: { mayAsk: boolean; seed: number }) {
    this.#pages = pages;
    this.#draws = new Draws(options.seed);
    this.#mayAsk = options.mayAsk;
    this.#client = new Client(pages.url, { pipelining: 1, strictContentLength: false });
    this.#patterns = [...pages.routes, ...before.map((path) => ({ method: "GET", path }))];
    const columns = ["id from run", "id from question", "id from operation", "id from record", "id from quarantine"];
    this.#ids = columns.flatMap((column) =>
      w.rows<{ id: string | number }>(`select ${column} limit 40`).map(({ id }) => String(id)),
    );
  }

  static async come(
    w: World,
    options: { person: Person | "whoever"; mayAsk: boolean; seed: number },
  ): Promise<HostileVisitor> {
    return new HostileVisitor(w, await servePages(w.place, options.person), options);
  }

  async leave(): Promise<void> {
    await this.#client.destroy();
    await this.#pages.close();
  }

  /** Asks so often; gives what was wrong, each kind of it once with the request that met it. */
  async ask(times: number): Promise<string[]> {
    // What an honest visitor meets first.
    for (const { method, path } of this.#patterns)
      if (method === "GET" && !path.includes(":")) await this.#ask({ method, path, headers: {} });
    for (let index = 0; index < times; index += 1) await this.#ask(this.#next(), index);
    for (const raw of rawRequests) await this.#askRaw(raw);
    return [...this.#wrong.values()];
  }

  /** What to ask next: a link, a form or a known path, and mostly something of it changed. */
  #next(): Sent {
    const draws = this.#draws;
    const form = draws.chance(0.35) ? draws.pick([...this.#forms.values()]) : undefined;
    const link = draws.chance(0.4) ? draws.pick([...this.#links]) : undefined;
    const pattern = draws.pick(this.#patterns) ?? { method: "GET", path: "/" };
    let sent: Sent;
    if (form !== undefined) sent = this.#filled(form);
    else if (link !== undefined) sent = { method: "GET", path: link, headers: {} };
    else
      sent = {
        method: pattern.method === "ALL" ? "GET" : pattern.method,
        path: this.#pathOf(pattern.path),
        headers: {},
      };
    if (draws.chance(0.5)) sent.path = this.#withQuery(sent.path);
    if (draws.chance(0.15)) sent.method = draws.pick(methods) ?? "GET";
    if (draws.chance(0.15) || (sent.method === "POST" && sent.body === undefined)) Object.assign(sent, this.#body());
    if (draws.chance(0.4)) Object.assign(sent.headers, this.#headers());
    if (sent.method === "GET" || sent.method === "HEAD") delete sent.body;
    return sent;
  }

  #value(): string {
    const draws = this.#draws;
    const known = draws.chance(0.4) ? draws.pick(this.#ids) : undefined;
    return known ?? draws.pick(hostileValues) ?? "";
  }

  #pathOf(pattern: string): string {
    return pattern.replaceAll(/:\w+(?:\{[^}]*\})?\??/gu, () => {
      const value = this.#draws.chance(0.15) ? "crm" : this.#value();
      return this.#draws.chance(0.05) ? value.replaceAll(/[^\w.~%-]/gu, "") : encoded(value);
    });
  }

  #withQuery(path: string): string {
    const draws = this.#draws;
    const own = [...new URL(path, "http://localhost").searchParams.keys()];
    const pairs = Array.from({ length: draws.whole(1, 3) }, () => {
      const name = draws.pick([...own, ...own, ...names, ...more]) ?? "q";
      return `${encoded(name)}=${draws.chance(0.05) ? "%ff%zz" : encoded(this.#value())}`;
    });
    return `${path}${path.includes("?") ? "&" : "?"}${pairs.join("&")}`;
  }

  /** A form as its page has it, with a field or two that are otherwise. */
  #filled({ method, action, fields }: FoundForm): Sent {
    const draws = this.#draws;
    const filled = new Map(Object.entries(fields).map(([name, value]) => [name, value === "" ? "asked for" : value]));
    for (const name of filled.keys()) if (name !== "csrf" && draws.chance(0.4)) filled.set(name, this.#value());
    if (draws.chance(0.1)) filled.delete(draws.pick([...filled.keys()]) ?? "");
    const body = [...filled].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
    const path = draws.chance(0.1) ? action.replace(/[^/]*$/u, encoded(this.#value())) : action;
    if (method !== "POST")
      return { method: "GET", path: `${path}${path.includes("?") ? "&" : "?"}${body}`, headers: {} };
    const headers = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    return { method, path, headers, body };
  }

  #body(): { body: string; headers: Record<string, string> } {
    const value = this.#value();
    const bodies = [
      ["application/x-www-form-urlencoded", `csrf=token&reason=${encoded(value)}&${encoded(value)}=${encoded(value)}`],
      ["application/x-www-form-urlencoded", "csrf=token&reason=a&reason=b&csrf=c&%zz=%ff&=&&"],
      ["application/x-www-form-urlencoded", `csrf=token&reason=${"x".repeat(200_000)}`],
      ["application/json", `{"csrf":"token","__proto__":{"role":"decide"},"reason":${JSON.stringify(value)}}`],
      ["application/json", "{"],
      ["multipart/form-data; boundary=x", `--x\r\ncontent-disposition: form-data; name="csrf"\r\n\r\ntoken\r\n--x--`],
      ["multipart/form-data", "--x"],
      ["text/plain; charset=utf-7", value],
      ["", value],
    ] as const;
    const [type, body] = this.#draws.pick(bodies) ?? bodies[0];
    return { body, headers: { ...(type === "" ? {} : { "content-type": type }), "sec-fetch-site": "same-origin" } };
  }

  #headers(): Record<string, string> {
    const value = this.#value()
      .replaceAll(/[^\u0020-\u007e]/gu, "?")
      .slice(0, 4_000);
    const all: Record<string, string>[] = [
      { cookie: `crm-sync=${value}; csrf=${value}` },
      { cookie: `__Host-crm-sync=${"0".repeat(64)}; crm-sync=${"f".repeat(64)}; ${value}` },
      { host: value.replaceAll(/[^\w.:-]/gu, "") || "elsewhere.example.com" },
      { "x-forwarded-for": value, "x-forwarded-host": value, "x-forwarded-proto": value, forwarded: value },
      { "x-assertion": value, "x-remote-user": "anna.lee", "x-forwarded-user": "anna.lee" },
      { origin: "https://elsewhere.example.com", "sec-fetch-site": "cross-site" },
      { accept: value },
      { accept: "application/json" },
      { "accept-language": value, "if-none-match": value, range: "bytes=5-1,0-", "if-modified-since": value },
      { authorization: `Bearer ${value}` },
      { "x-http-method-override": "DELETE", "x-csrf-token": value },
      { "content-type": value },
      { "last-event-id": value, accept: "text/event-stream" },
    ];
    return this.#draws.pick(all) ?? {};
  }

  async #ask(sent: Sent, index = -1): Promise<void> {
    let answered: Answered;
    try {
      answered = await this.#answerOf(sent);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      // The client itself refuses to send some of it.
      if (!/invalid|Request path|header/iu.test(text)) this.#note(`no answer: ${text}`, sent, index);
      return;
    }
    this.#judge(answered, sent, index);
  }

  async #answerOf({ method, path, headers: given, body }: Sent): Promise<Answered> {
    const headers = { host: this.#pages.host, ...given };
    const answer = await this.#client.request({ method, path, headers, body: body ?? null, reset: false });
    const type = String(answer.headers["content-type"] ?? "");
    if (!type.startsWith("text/event-stream"))
      return { status: answer.statusCode, type, text: await answer.body.text() };
    // Such an answer has no end: what it begins with counts.
    answer.body.on("error", () => {});
    answer.body.destroy();
    return { status: answer.statusCode, type, text: "" };
  }

  #judge({ status, type, text }: Answered, sent: Sent, index: number): void {
    if (status >= 500 && status !== 503) {
      const why = this.#pages.logged.filter((line) => line.includes("web.failed")).at(-1) ?? text;
      const reason = /"reason":"(?<reason>(?:[^"\\]|\\.)*)"/u.exec(why)?.groups?.["reason"] ?? why.slice(0, 200);
      this.#note(`answered with ${status}: ${reason}`, sent, index);
    }
    const mayShow = this.#mayAsk && sent.method === "POST";
    const shown = mayShow ? null : privateText.exec(text);
    // What somebody typed comes back to them; nothing that is typed here is private.
    if (shown !== null)
      this.#note(
        `something private is shown: ${text.slice(Math.max(0, shown.index - 60), shown.index + 30)}`,
        sent,
        index,
      );
    if (!type.startsWith("text/html")) return;
    // A statement is a document of its own with its style in it, without any right to run something.
    const isStatement = /^\/reports\/[^/]+\/statement/u.test(sent.path);
    for (const what of intrusions(text))
      if (!isStatement || what !== "an element <style>") this.#note(what, sent, index);
    if (status !== 200) return;
    this.pagesSeen += 1;
    const { links, forms } = waysOn(text, sent.path);
    for (const link of links.slice(0, 200)) if (this.#links.size < 3_000) this.#links.add(link);
    for (const form of forms) {
      const key = `${form.method} ${form.action}`;
      if (this.#forms.size < 500 && !/logout/u.test(key)) this.#forms.set(key, form);
    }
  }

  #note(what: string, { method, path, body }: Sent, index: number): void {
    const place = this.#patternOf(path);
    const key = `${place} ${what.slice(0, 50)}`;
    if (this.#wrong.has(key)) return;
    const asked = `${method} ${path.slice(0, 300)}${body === undefined ? "" : ` with ${body.slice(0, 200)}`}`;
    this.#wrong.set(key, `${what}\n  request ${index}: ${asked}`);
  }

  #patternOf(path: string): string {
    return path.split(/[?/]/u)[1] ?? "";
  }

  /** Sends bytes as they are; the server answers with a refusal or hangs up, and stands. */
  async #askRaw(bytes: string): Promise<void> {
    const { hostname, port } = new URL(this.#pages.url);
    const text = await new Promise<string>((resolve) => {
      let heard = "";
      const socket = connect(Number(port), hostname, () => socket.end(bytes));
      socket.setEncoding("utf8").on("data", (chunk: string) => (heard += chunk));
      socket.on("error", () => resolve(heard));
      socket.on("close", () => resolve(heard));
    });
    const status = Number(/^HTTP\/1\.1 (\d+)/u.exec(text)?.[1] ?? 0);
    const type = /\r\ncontent-type: ([^\r]*)/iu.exec(text)?.[1] ?? "";
    this.#judge(
      { status, type, text: text.slice(text.indexOf("\r\n\r\n") + 4) },
      { method: "raw", path: bytes, headers: {} },
      -1,
    );
  }
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
