import { html } from "hono/html";
import type { Dashboard } from "../../operate/dashboard.ts";
import { searchPeople } from "../../requests/private-shown.ts";
import { identityKey } from "../../base/who.ts";
import type { FoundRecord } from "../../inquiry/find.ts";
import { isBeginning, mostFound } from "../../report/explain.ts";
import { recordPath } from "../../report/page-links.ts";
import { counted } from "../../report/text.ts";
import { needs } from "../access/person.ts";
import { RateLimit } from "../access/rate-limit.ts";
import { framed } from "../frame.ts";
import type { Html, Page, PageContext } from "../page.ts";
import { keyLink, nouns, stateWord, table, words } from "../parts/tables.ts";
import { moment, shown, whenOf } from "../shown.ts";

const longest = 200;
/** Enough for somebody who knows the person, but guessing names letter by letter takes hundreds. */
const peopleSearches = { most: 30, windowMs: 60_000 };

/** Names of people are compared only in a separate step, for somebody who may see them. */
export const searchPage: Page = (routes, dashboard) => {
  const limit = new RateLimit({ clock: dashboard.clock, ...peopleSearches });
  routes.get("/search", needs("see"), async (context) => {
    const text = searched(context.req.query("q"));
    if (text === undefined) return await notLookedFor(context);
    const found = await dashboard.read(async (inquiry) => await inquiry.findEverywhere(text));
    const [only, ...others] = found;
    if (only !== undefined && others.length === 0) return context.redirect(recordPath(only.stream, only.key), 303);
    const body = [only === undefined ? nothing(text) : list(found, dashboard), peopleForm(context, text)];
    return await framed(context, { title: "Search", body }, only === undefined ? 404 : 200);
  });
  routes.post("/search/people", needs("see"), async (context) => {
    const { person, refuse } = context.var;
    if (!person.mayAskForPrivate) return await refuse("private");
    const text = searched((await context.req.parseBody())["q"]);
    if (text === undefined) return await notLookedFor(context);
    const waits = limit.count(identityKey(person));
    if (waits !== undefined) return await tooOften(context, waits);
    const asked = { text, by: person.name };
    const found = await searchPeople(dashboard.application, (question) => dashboard.read(question), asked);
    const body = [
      found.length === 0 ? html`<p>No name or login of a person begins so.</p>` : list(found, dashboard),
      peopleForm(context, text),
    ];
    return await framed(context, { title: "People", body }, found.length === 0 ? 404 : 200);
  });
};

function searched(given: unknown): string | undefined {
  const text = typeof given === "string" ? given.trim() : "";
  return text === "" || text.length > longest || text.includes("\0") || !text.isWellFormed() ? undefined : text;
}

function notLookedFor(context: PageContext): Response | Promise<Response> {
  const cure = `Give an id, a number or a name of at most ${longest} characters.`;
  const notice = { kind: "failed", text: "That cannot be looked for.", cure } as const;
  return framed(context, { title: "Search", body: peopleForm(context, ""), notice }, 400);
}

function tooOften(context: PageContext, waits: number): Response | Promise<Response> {
  context.header("retry-after", String(waits));
  const text = `You looked for people ${peopleSearches.most} times within a minute.`;
  const notice = { kind: "failed", text, cure: `Look again in ${counted(waits, "second")}.` } as const;
  return framed(context, { title: "People", body: html``, notice }, 429);
}

function nothing(text: string): Html {
  return html`<p>Nothing was found for ${shown(text)}.</p>
    <p class="soft">
      It was looked for as an id, an asset number, a channel order or customer number, a licence order, an enterprise, a
      member, and as the beginning of the name of a company. A record that no source has given, and one whose values are
      erased, is not found.
    </p>`;
}

function peopleForm({ var: { person, csrf } }: PageContext, text: string): Html {
  if (!person.mayAskForPrivate) return html``;
  return html`<form method="post" action="/search/people">
    <input type="hidden" name="csrf" value="${csrf}" />
    <label for="people">Name or login of a person, or its beginning</label>
    <input id="people" name="q" value="${text}" maxlength="${longest}" required />
    <button>Look for people</button>
    <span class="soft">That you looked is written into the audit log under the name ${person.name}.</span>
  </form>`;
}

function list(found: readonly FoundRecord[], dashboard: Dashboard): Html {
  const when = whenOf(dashboard);
  const full = (["customers", "orders", "staff"] as const).some(
    (stream) => found.filter((one) => one.stream === stream).length >= mostFound,
  );
  const rows = found.map((one) => [
    keyLink(one.stream, one.key),
    nouns[one.stream],
    isBeginning(one) ? one.by : `its ${one.by}`,
    one.record === null ? html`<span class="state bad">in quarantine</span>` : stateWord(one.record),
    one.record === null ? "" : moment(one.record.changedAt, when),
  ]);
  const more = full ? `, and there may be more: no more than ${mostFound} of a kind are listed` : "";
  const fit = `${counted(found.length, "record")} ${found.length === 1 ? "fits" : "fit"}`;
  return table(`${fit}${more}`, words("Id", "Kind", "Found by", "State", "Changed"), rows);
}
