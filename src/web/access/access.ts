import type { Context, MiddlewareHandler } from "hono";
import { html } from "hono/html";
import type { Access } from "../../app/access.ts";
import { messageOf } from "../../base/errors.ts";
import { isLoopbackHost } from "../../base/loopback.ts";
import { roleOnLoopback } from "../../config/serve.ts";
import { framed } from "../frame.ts";
import type { PageContext, WebEnvironment } from "../page.ts";
import { shown } from "../shown.ts";
import { limitedBody } from "./body-limit.ts";
import { connectionOf } from "./connection.ts";
import { cookieOf } from "./cookies.ts";
import { csrfOf, isSame, proofOf } from "./csrf.ts";
import { isExpectedHost, isLoopbackName, isOwnOrigin } from "./host.ts";
import { roles } from "./person.ts";
import type { Person, Right } from "./person.ts";
import { saidByProxy } from "./proxy-header.ts";
import { isForPeople, refuse } from "./refused.ts";
import type { Answer } from "./refused.ts";

/** How often the same person at the same page is written down. */
const notedEveryMs = 60_000;
const mostNoted = 1_000;

/** Who asks, and the token that their forms bear; or the answer that they get instead. */
type Asked = { person: Person; csrf: string } | { answer: () => Answer };

/** What stands before everything else: the request names this server, and its body is no flood. */
export function guard(access: Access): MiddlewareHandler[] {
  return [
    async (context, next) => {
      if (!isExpectedHost(context.req.header("host"), access.settings))
        return refuse(context, 421, {
          code: "unknown-host",
          text: "The request is for another name than that of this server.",
          cure: "Use the address in serve.publicUrl, or localhost on the machine itself.",
        });
      if (!["GET", "HEAD", "POST"].includes(context.req.method)) {
        context.header("allow", "GET, HEAD, POST");
        return context.json({ error: "method not allowed" }, 405);
      }
      await next();
    },
    limitedBody(),
  ];
}

/**
 * Says who asks before any page is reached; who is nobody gets none. A request that changes something has to show its
 * token.
 */
export function access(deps: Access): MiddlewareHandler<WebEnvironment> {
  const note = notedSeldom(deps);
  return async (context, next) => {
    // A browser asks for events again by itself, also where nobody sits before it.
    const byItself = context.req.header("accept") === "text/event-stream";
    const asked = whoAsks(context, deps, byItself ? "looked at" : "used");
    if ("answer" in asked) return asked.answer();
    const { person, csrf } = asked;
    context.set("person", person);
    context.set("csrf", csrf);
    context.set("isStillIn", () => isStillIn(context, deps, person));
    context.set("refuse", async (needed) => {
      await note(person, context.req.routePath);
      return refusedPage(context, person, needed);
    });
    if (context.req.method === "POST") {
      if (!isOwnRequest(context, deps) || !isSame(await csrfOf(context), csrf)) return foreignForm(context);
    }
    await next();
  };
}

/** Whether the browser says that one of our own pages sent it here. */
export function isOwnRequest(context: Context, { settings }: Access): boolean {
  const { req } = context;
  const [origin, site, host] = [req.header("origin"), req.header("sec-fetch-site"), req.header("host")];
  return isOwnOrigin({ origin, site, host }, settings);
}

export function foreignForm(context: Context): Answer {
  return refuse(context, 403, {
    code: "foreign-form",
    text: "This form is none that was made for you, or it is too old. Nothing was done.",
    cure: "Open the page again and send it from there.",
  });
}

/** Who signed out, or has another role by now, is no longer in. That somebody is told something is no sign of them. */
function isStillIn(context: PageContext, deps: Access, { name, role, way }: Person): boolean {
  const asked = whoAsks(context, deps, "looked at");
  if ("answer" in asked) return false;
  const { person } = asked;
  return person.name === name && person.role === role && person.way === way;
}

function whoAsks(context: PageContext, deps: Access, session: "used" | "looked at" = "used"): Asked {
  const { settings } = deps;
  const { address, rawHeaders } = connectionOf(context);
  const said = saidByProxy(rawHeaders, address, settings.access.proxy);
  if (said.kind === "refused")
    return {
      answer: () =>
        refuse(context, 403, {
          code: "proxy-refused",
          text: `Refused: ${said.why}.`,
          cure: "Name the addresses of the reverse proxy in serve.access.proxy.from, and have it set its header anew.",
        }),
    };
  if (said.kind === "person") {
    const { name, role } = said;
    if (role === undefined) return { answer: () => noRole(context, name) };
    const person = personOf(deps, { name, role, way: "proxy" });
    return { person, csrf: tokenWithoutSession(deps, person) };
  }
  const token = cookieOf(context, "session", settings);
  const found = token === undefined ? undefined : tried(deps, () => deps.session(token, session));
  const role = roles.find((one) => one === found?.role);
  const way = ways.find((one) => one === found?.way);
  if (found !== undefined && role !== undefined && way !== undefined)
    return { person: personOf(deps, { name: found.person, role, way }), csrf: found.csrf };
  if (said.kind === "nobody" && isFromHere(context, deps)) {
    const person: Person = { name: "this machine", role: "see", way: "loopback", mayAskForPrivate: false };
    return { person, csrf: tokenWithoutSession(deps, person) };
  }
  return { answer: () => toSignIn(context) };
}

const ways = ["link", "oidc"] as const;

function personOf({ settings }: Access, who: Omit<Person, "mayAskForPrivate">): Person {
  return { ...who, mayAskForPrivate: settings.access.private.includes(who.role) };
}

/** Without its file nobody is signed in: that alone ends nothing else. */
export function tried<T>(deps: Access, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    deps.logger.error(
      { event: "sessions.unusable", reason: messageOf(error) },
      "the file of who is signed in cannot be used: nobody can sign in",
    );
    return undefined;
  }
}

function tokenWithoutSession(deps: Access, { way, name }: Person): string {
  const key = tried(deps, () => deps.sessions.key());
  return key === undefined ? "" : proofOf(key, way, name);
}

const forwarding = /^(?:x-forwarded|forwarded$|via$|x-real-ip$)/iu;

/** Whether it comes from this machine, as far as can be seen without a proxy between. */
export function isFromHere(context: Context, { settings }: Access): boolean {
  const { address, rawHeaders } = connectionOf(context);
  return (
    roleOnLoopback(settings) !== "none" &&
    isLoopbackHost(address) &&
    isLoopbackName(context.req.header("host")) &&
    !rawHeaders.some((name, at) => at % 2 === 0 && forwarding.test(name))
  );
}

function toSignIn(context: Context): Answer {
  const { method, path, url } = context.req;
  if (method !== "POST" && isForPeople(context)) {
    const to = `${path}${new URL(url).search}`;
    context.header("cache-control", "no-store");
    return context.redirect(to === "/" ? "/login" : `/login?to=${encodeURIComponent(to)}`, 303);
  }
  context.header("www-authenticate", 'Session realm="crm-sync"');
  return refuse(context, 401, {
    code: "signed-out",
    text: "Nobody is signed in.",
    cure: "Sign in at /login, then do it again.",
  });
}

export function noRole(context: Context, name: string): Answer {
  return refuse(context, 403, {
    code: "no-role",
    text: `${name} is known, and has no right to these pages.`,
    cure: "Whoever runs crm-sync gives one in serve.access.",
  });
}

const rights: Record<Right, string> = {
  see: "see what is synchronised (role see)",
  report: "make reports (role report)",
  decide: "decide (role decide)",
  private: "ask for private values (a role in serve.access.private)",
};

function refusedPage(context: PageContext, person: Person, needed: Right): Answer {
  const { name, role } = person;
  const text = `This page is for people who may ${rights[needed]}; ${name} has the role ${role}.`;
  const cure =
    "Whoever runs crm-sync gives roles in serve.access; `crm-sync login` on the machine itself signs in with all.";
  if (!isForPeople(context)) return context.json({ error: "not-permitted", message: text, cure }, 403);
  const body = html`<p>${shown(text)}</p>
    <p class="cure">${shown(cure)}</p>`;
  return framed(context, { title: "Not permitted", body }, 403);
}

/**
 * Writes down that somebody wanted what they may not: once a minute for a person and a page, so that nobody fills the
 * record.
 */
function notedSeldom(deps: Access): (person: Person, route: string) => Promise<void> {
  const last = new Map<string, number>();
  return async ({ name, role, way }, route) => {
    const key = JSON.stringify([way, name, route]);
    const now = deps.clock.monotonic();
    const before = last.get(key);
    if (before !== undefined && now - before < notedEveryMs) return;
    if (last.size >= mostNoted) last.clear();
    last.set(key, now);
    await deps.note("page-refused", `page:${route}`, { by: name, route, role, way });
  };
}
