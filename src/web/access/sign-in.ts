import type { MiddlewareHandler } from "hono";
import { html } from "hono/html";
import { type Access, access, foreignForm, guard, isOwnRequest, toSignIn } from "./access.ts";
import type { PageContext, Routes, WebEnvironment } from "../page.ts";
import { browserOf, signedIn, cookieOf, takeCookie, csrfOf, isSame, proofOf } from "./session.ts";
import { barePage, refuse, unusable, type Answer } from "./refused.ts";

const token = "[0-9a-f]{64}";

/** Adds the sign-in and sign-out paths. Identifies the person for every other path. */
export function behindAccess(routes: Routes, deps: Access): MiddlewareHandler<WebEnvironment> {
  for (const one of guard(deps)) routes.use(one);
  registerSignIn(routes, deps);
  return access(deps);
}

function registerSignIn(routes: Routes, deps: Access): void {
  for (const path of ["/login", "/login/*", "/logout"])
    routes.use(path, async (context, next) => {
      if (!context.var.place.takesCookies) return await toSignIn(context, deps);
      return await next();
    });
  routes.get("/login", (context) => signInPage(context, deps));
  registerLink(routes, deps);
  routes.post("/logout", async (context) => {
    const held = cookieOf(context, "session");
    const session = held === undefined ? undefined : deps.tried(() => deps.session(held));
    if (held !== undefined && session !== undefined) {
      if (!isOwnRequest(context, deps) || !isSame(await csrfOf(context), session.csrf)) return foreignForm(context);
      deps.tried(() => deps.sessions.end(held));
    }
    takeCookie(context, "session");
    return context.redirect("/login", 303);
  });
}

function registerLink(routes: Routes, deps: Access): void {
  const path = `/login/link/:token{${token}}`;
  routes.get(path, (context) => {
    const csrf = browserProof(context, deps);
    if (csrf === undefined) return unusable(context);
    // A program that only looks at links must not use it up.
    const body = html`<form method="post">
      <input type="hidden" name="csrf" value="${csrf}" />
      <p>This link signs in once, within a minute of when it was made.</p>
      <button>Sign in</button>
    </form>`;
    return barePage(context, { title: "Sign in", body });
  });
  routes.post(path, async (context) => {
    if (!(await isOurSignIn(context, deps))) return foreignForm(context);
    const user = deps.tried(() => deps.sessions.useLink(context.req.param("token")));
    if (user === undefined)
      return refuse(context, 403, {
        code: "link-over",
        text: "This sign-in link was used before, or is older than a minute.",
        cure: "Run `crm-sync login` again and open the new link.",
      });
    return signedIn(context, deps, user);
  });
}

/** The proof in a sign-in form of this browser. Undefined if the file of sign-ins cannot be read. */
function browserProof(context: PageContext, deps: Access): string | undefined {
  const browser = browserOf(context);
  const key = deps.own()?.key;
  return key === undefined ? undefined : proofOf(key, "sign-in", browser);
}

/** Whether it began on our page in this browser. Otherwise another site could sign people in as somebody else. */
async function isOurSignIn(context: PageContext, deps: Access): Promise<boolean> {
  const browser = cookieOf(context, "browser");
  const key = deps.own()?.key;
  if (browser === undefined || key === undefined || !isOwnRequest(context, deps)) return false;
  return isSame(await csrfOf(context), proofOf(key, "sign-in", browser));
}

function signInPage(context: PageContext, { settings }: Access): Answer {
  const parts = [
    ...(settings.access.proxy === undefined
      ? []
      : [html`<p>People sign in at the reverse proxy before these pages.</p>`]),
    html`<p>On the machine itself, <code>crm-sync login</code> prints a link that signs in.</p>`,
  ];
  return barePage(context, { title: "Sign in", body: parts });
}
