import type { MiddlewareHandler } from "hono";
import { html } from "hono/html";
import type { JsonObject } from "../../base/canonical-json.ts";
import type { Clock } from "../../base/clock.ts";
import { durationMs } from "../../base/duration.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { actingAs, identityKey, thisMachine, type Who } from "../../base/who.ts";
import type { Role } from "../../config/access-settings.ts";
import type { ServeSettings } from "../../config/schema.ts";
import type { Session, Sessions, Own } from "../../ledger/sessions/sessions.ts";
import type { Dashboard } from "../../operate/dashboard.ts";
import { sessionsOf } from "../../operate/login-link.ts";
import { framed } from "../frame.ts";
import type { PageContext, WebEnvironment } from "../page.ts";
import { shown } from "../shown.ts";
import { assertionReader, type Refused, type Unsaid } from "./assertion.ts";
import { cookieOf, csrfOf, isSame, proofOf } from "./session.ts";
import { RateLimit } from "./rate-limit.ts";
import { isOwnOrigin, requireHost } from "./host.ts";
import type { Person, Right } from "./person.ts";
import { isForPeople, refuse, type Answer } from "./refused.ts";

export class Access {
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly #dashboard: Dashboard;
  constructor(dashboard: Dashboard) {
    this.#dashboard = dashboard;
    this.clock = dashboard.clock;
    const { application } = dashboard;
    this.sessions = sessionsOf(application, dashboard.clock);
  }

  get settings(): ServeSettings {
    return this.#dashboard.application.config.serve;
  }

  get logger(): Logger {
    return this.#dashboard.application.logger;
  }

  get directory(): string {
    return this.#dashboard.application.directory;
  }

  secret(reference: string): string {
    return this.#dashboard.application.secrets.reveal(reference);
  }

  /** Without the file of sign-ins nobody is signed in, but everything else works. */
  tried<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.logger.error(
        { event: "sessions.unusable", reason: messageOf(error) },
        "the file of who is signed in cannot be used: nobody can sign in",
      );
      return undefined;
    }
  }

  own(): Own | undefined {
    return this.tried(() => this.sessions.own());
  }

  /** Looking at a session (`looked at`) does not extend it. */
  session(token: string, how: "used" | "looked at" = "used"): Session | undefined {
    const { idle, longest } = this.settings.access.sessions;
    return this.sessions.find(token, {
      idleMs: durationMs(idle),
      longestMs: durationMs(longest),
      isUsed: how === "used",
    });
  }

  /** If the entry fails, only the log says so. */
  async note(kind: string, subject: string, body: JsonObject): Promise<void> {
    try {
      const ledger = await this.#dashboard.application.ledger();
      await ledger.audit.append({ kind, subject, body });
    } catch (error) {
      this.logger.error(
        { event: "access.not-noted", kind, reason: messageOf(error) },
        "a refusal is not in the record",
      );
    }
  }
}

const notedEveryMs = 60_000;

type Asked = { person: Person; csrf: string } | { answer: () => Answer };
type WhoAsks = (context: PageContext, session: "used" | "looked at") => Promise<Asked>;

/** Checks before everything else: host, method and body size. */
export function guard(access: Access): MiddlewareHandler<WebEnvironment>[] {
  return [
    requireHost(access),
    async (context, next) => {
      if (!["GET", "HEAD", "POST"].includes(context.req.method)) {
        context.header("allow", "GET, HEAD, POST");
        return context.json({ error: "method not allowed" }, 405);
      }
      return await next();
    },
    limitedBody(),
  ];
}

/**
 * Identifies the person before any page. Nobody without a session gets a page. A changing request must show its token.
 */
export function access(deps: Access): MiddlewareHandler<WebEnvironment> {
  const note = notedSeldom(deps);
  const whoAsks = askedBy(deps);
  return async (context, next) => {
    // Browsers reopen event streams on their own, also without a person.
    const byItself = context.req.header("accept") === "text/event-stream";
    const asked = await whoAsks(context, byItself ? "looked at" : "used");
    if ("answer" in asked) return await asked.answer();
    const { person, csrf } = asked;
    context.set("person", person);
    context.set("csrf", csrf);
    // Later calls return the same person and role, or nobody.
    context.set("isStillIn", async () => "person" in (await whoAsks(context, "looked at")));
    context.set("refuse", async (needed) => {
      await note(person, context.req.routePath);
      return refusedPage(context, person, needed);
    });
    if (context.req.method === "POST") {
      if (!isOwnRequest(context, deps) || !isSame(await csrfOf(context), csrf)) return await foreignForm(context);
    }
    return await actingAs(person, next);
  };
}

export function isOwnRequest({ req }: PageContext, { settings }: Access): boolean {
  const [origin, site, host] = [req.header("origin"), req.header("sec-fetch-site"), req.header("host")];
  return isOwnOrigin({ origin, site, host }, settings.publicUrl);
}

export function foreignForm(context: PageContext): Answer {
  return refuse(context, 403, {
    code: "foreign-form",
    text: "This form has expired, or it was made for somebody else. Nothing was done.",
    cure: "Open the page again and send it from there.",
  });
}

function askedBy(deps: Access): WhoAsks {
  const assertionOf = assertionReader(deps);
  const logged = new RateLimit({ clock: deps.clock, most: 1, windowMs: notedEveryMs });
  return async (context, session) => {
    const said = await assertionOf(context);
    if (said.kind === "refused" || said.kind === "unknown") {
      if (logged.count(JSON.stringify(said)) === undefined) logRefusal(deps, said);
      return { answer: () => (said.kind === "refused" ? proxyRefused(context, said) : proxyUnknown(context)) };
    }
    if (said.kind === "person") {
      const { who, role } = said;
      if (role === undefined) return { answer: () => noRole(context, who.name) };
      const key = deps.own()?.key;
      const csrf = key === undefined ? "" : proofOf(key, who.way, who.issuer, who.subject);
      return { person: personOf(deps, who, role), csrf };
    }
    const token = cookieOf(context, "session");
    const found = token === undefined ? undefined : deps.tried(() => deps.session(token, session));
    if (found === undefined) return { answer: () => toSignIn(context, deps) };
    const who = { name: found.user, way: "link", issuer: thisMachine, subject: found.user } as const;
    return { person: personOf(deps, who, "decide"), csrf: found.csrf };
  };
}

function personOf({ settings }: Access, { name, way, issuer, subject }: Who, role: Role): Person {
  return { name, way, issuer, subject, role, mayAskForPrivate: settings.access.private.includes(role) };
}

/** Repeats nothing of the assertion. */
function logRefusal({ logger }: Access, said: Unsaid): void {
  const event = { event: "access.assertion", code: said.code, reason: said.why };
  if (said.kind === "refused")
    logger.warn({ ...event, claim: said.claim }, "an assertion of the reverse proxy was refused");
  else logger.warn(event, "the keys of the reverse proxy cannot be read");
}

function proxyRefused(context: PageContext, { why }: Refused): Answer {
  return refuse(context, 403, {
    code: "proxy-refused",
    text: `The sign-in by the reverse proxy was refused: ${why}.`,
    cure:
      "Sign in at the reverse proxy again. If it is refused again, ask the operator: the log of crm-sync has the " +
      "reason.",
  });
}

function proxyUnknown(context: PageContext): Answer {
  return refuse(context, 503, {
    code: "proxy-keys-unreachable",
    text: "Nobody can sign in through the reverse proxy now: crm-sync cannot read its keys.",
    cure: "Try again in a moment. If it fails again, ask the operator: the log of crm-sync has the reason.",
  });
}

export function toSignIn(context: PageContext, { settings }: Access): Answer {
  if (!context.var.place.takesCookies) {
    const { publicUrl } = settings;
    const elsewhere = publicUrl === undefined ? "" : `, or open ${publicUrl}`;
    return refuse(context, 401, {
      code: "other-name",
      text: "The pages cannot be used under this address.",
      cure: `Run \`crm-sync login\` on the computer that runs crm-sync, and open the link that it prints${elsewhere}.`,
    });
  }
  if (context.req.method !== "POST" && isForPeople(context)) {
    context.header("cache-control", "no-store");
    return context.redirect("/login", 303);
  }
  context.header("www-authenticate", 'Session realm="crm-sync"');
  return refuse(context, 401, {
    code: "signed-out",
    text: "You are not signed in.",
    cure: "Sign in at /login, then try again.",
  });
}

function noRole(context: PageContext, name: string): Answer {
  return refuse(context, 403, {
    code: "no-role",
    text: `${name} has no right to see these pages.`,
    cure: "Ask the person who runs crm-sync for a role: serve.access in the configuration gives roles.",
  });
}

const rights: Record<Right, string> = {
  see: "see the synchronisation (role see)",
  report: "make reports (role report)",
  decide: "decide (role decide)",
  private: "ask for private values (a role in serve.access.private)",
};

function refusedPage(context: PageContext, person: Person, needed: Right): Answer {
  const { name, role } = person;
  const text = `This page is for people who may ${rights[needed]}; ${name} has the role ${role}.`;
  const cure =
    "Ask the person who runs crm-sync for that role (serve.access); `crm-sync login` on its computer signs in " +
    "with all roles.";
  if (!isForPeople(context)) return context.json({ error: "not-permitted", message: text, cure }, 403);
  const body = html`<p>${shown(text)}</p>
    <p class="cure">${shown(cure)}</p>`;
  return framed(context, { title: "Not permitted", body }, 403);
}

/** Notes a refusal once a minute for each person and page, so that nobody can fill the audit log. */
function notedSeldom(deps: Access): (person: Person, route: string) => Promise<void> {
  const noted = new RateLimit({ clock: deps.clock, most: 1, windowMs: notedEveryMs });
  return async (person, route) => {
    if (noted.count(`${identityKey(person)} ${route}`) !== undefined) return;
    const { name, role } = person;
    await deps.note("page-refused", `page:${route}`, { by: name, route, role });
  };
}

const mostBodyBytes = 64 * 1024;

/** Reads the body of a POST up to a limit. Hono's own limit fails here for requests without a length. */
function limitedBody(): MiddlewareHandler {
  return async (context, next) => {
    if (context.req.method !== "POST") return await next();
    const tooLarge = {
      code: "too-large",
      text: `The form is larger than ${mostBodyBytes} bytes. Nothing was done.`,
      cure: "Send a shorter text.",
    };
    if (Number(context.req.header("content-length") ?? 0) > mostBodyBytes) return refuse(context, 413, tooLarge);
    let text: string | undefined;
    try {
      text = await textOf(context.req.raw.body);
    } catch {
      return refuse(context, 400, {
        code: "broken-off",
        text: "The connection broke before the form had arrived. Nothing was done.",
        cure: "Send the form again.",
      });
    }
    if (text === undefined) return refuse(context, 413, tooLarge);
    // Hono keeps the body here after reading it.
    Object.assign(context.req.bodyCache, { text: Promise.resolve(text) });
    return await next();
  };
}

async function textOf(body: ReadableStream<Uint8Array> | null): Promise<string | undefined> {
  if (body === null) return "";
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks).toString("utf8");
    bytes += value.byteLength;
    if (bytes > mostBodyBytes) {
      // The rest is not read: the connection ends with the answer.
      void reader.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
}
