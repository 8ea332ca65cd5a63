import { whenOf, moment, shown, type When } from "../shown.ts";
import { html } from "hono/html";
import { askForPrivate } from "../../requests/private-shown.ts";
import type { Dashboard } from "../../operate/dashboard.ts";
import { messageOf, Problem } from "../../base/errors.ts";
import { type RecordKey, type Stream, privateFields } from "../../crm/model.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { claimedNumbers, isTold, type ExplainFacts, type FieldFacts } from "../../report/explain.ts";
import { idOfSegment, pagePath, recordPath } from "../../report/page-links.ts";
import { valueText } from "../../report/runs.ts";
import { counted, recordName } from "../../report/text.ts";
import { timeLineOf, tellers, type TimeLineEntry } from "../../report/time-line.ts";
import { needs } from "../access/person.ts";
import { framed, type Notice } from "../frame.ts";
import type { Html, PageContext, Routes } from "../page.ts";
import { keyLink, list, stateWord, terms } from "../parts/tables.ts";
import { moodOf, ownHolds, sinceWhen, verdictOf, whoseTurn } from "../../report/explain-verdict.ts";

const entriesAtFirst = 40;
const mostFields = 60;
const toldAlready = ["id", "namespace", "customerId", "customerNamespace"];

type OwnSections = (
  inquiry: Inquiry,
  facts: ExplainFacts,
  asked: { when: When; query: (name: string) => string | undefined },
) => Promise<Html | "">;

export function recordRoutes(
  routes: Routes,
  dashboard: Dashboard,
  { stream, page, own }: { stream: Stream; page: string; own: OwnSections },
): void {
  const answer = async (
    context: PageContext,
    key: RecordKey,
    more: { asked?: ShownValues | undefined; notice?: Notice } = {},
  ): Promise<Response> => {
    const when = whenOf(dashboard);
    const { facts, sections } = await dashboard.read(async (inquiry) => {
      const told = await inquiry.explain(stream, key);
      const query = (name: string): string | undefined => context.req.query(name);
      return { facts: told, sections: isTold(told) ? await own(inquiry, told, { when, query }) : "" };
    });
    const title = titleOf(stream, key);
    if (!isTold(facts)) return await framed(context, { title, body: verdictCard(facts, when) }, 404);
    const body = html`${verdictCard(facts, when)} ${inTheCrm(facts, when)}
    ${privatePart(context, facts, more.asked, when)} ${sections} ${story(context, facts, when)}`;
    const status = more.notice?.kind === "failed" ? 503 : 200;
    return await framed(context, { title, body, notice: more.notice }, status);
  };
  const path = `/${page}/:namespace/:id` as const;
  const keyIn = (context: PageContext): RecordKey => ({
    namespace: idOfSegment(context.req.param("namespace") ?? ""),
    id: idOfSegment(context.req.param("id") ?? ""),
  });
  routes.get(path, needs("see"), async (context) => await answer(context, keyIn(context)));
  routes.post(`${path}/private`, needs("see"), async (context) => {
    const key = keyIn(context);
    const { person, refuse } = context.var;
    if (!person.mayAskForPrivate) return await refuse("private");
    const known = await dashboard.read(async (inquiry) => await inquiry.explain(stream, key));
    if (known.record === null || known.versions[0]?.fields.some((field) => "private" in field) !== true)
      return await answer(context, key);
    try {
      return await answer(context, key, { asked: await askForPrivate(dashboard, { stream, key }, person.name) });
    } catch (error) {
      const { logger } = dashboard.application;
      logger.error({ event: "web.private-not-shown", reason: messageOf(error) }, "private values could not be shown");
      return await answer(context, key, { notice: notShown(error) });
    }
  });
}

function notShown(error: unknown): Notice {
  const cure = error instanceof Problem ? error.cure : "The log of the program says more; then ask again.";
  return { kind: "failed", text: "That you asked could not be written down, so nothing is shown.", cure };
}

function titleOf(stream: Stream, key: RecordKey): string {
  const name = recordName(stream, key).replace(/^staff /u, "person ");
  const cut = name.length > 120 ? `${name.slice(0, 120)}…` : name;
  return cut.slice(0, 1).toUpperCase() + cut.slice(1);
}

/** Fields of instances appear in the order's tree instead. */
function inTheCrm(facts: ExplainFacts, when: When): Html | "" {
  const { record, versions, customer, read, claims } = facts;
  if (record === null) return "";
  const fields = (versions[0]?.fields ?? []).filter(
    ({ name }) => !name.startsWith("instances[") && !toldAlready.includes(name),
  );
  const run = (id: string): Html => html`<a href="${pagePath.run(id)}">${shown(id)}</a>`;
  const { changedRun, outcome } = record;
  const whose = facts.stream === "customers" ? null : customer;
  const ended = read?.finishedAt === null ? "not ended" : read?.complete === true ? "complete" : "incomplete";
  return html`<h2>In the CRM</h2>
    ${terms([
      ["State", html`${stateWord(record)}, version ${record.version}, from the source ${shown(record.source)}`],
      ["Customer", whose && html`${keyLink("customers", whose.key)} (${whose.record?.state ?? "not in the CRM"})`],
      ["First seen", moment(record.firstSeen, when)],
      [
        "Changed",
        html`${moment(record.changedAt, when)} ${changedRun === null ? "" : html`by run ${run(changedRun)}`}`,
      ],
      ["Decided", outcome && html`${shown(outcome.decision)} by run ${run(outcome.run)}`],
      ["Last read", read && html`${moment(read.startedAt, when)}, ${ended}`],
      ...claims.map((claim) => ["Should hold", html`${shown(claim.claim)} (${shown(claimedNumbers(claim))})`] as const),
      ...fields.slice(0, mostFields).map((field) => [shown(field.name, 200), fieldValue(field)] as const),
    ])}
    ${fields.length > mostFields ? html`<p class="soft">… and ${fields.length - mostFields} more fields</p>` : ""}`;
}

function fieldValue(field: FieldFacts): Html {
  if ("private" in field) return html`<span class="none">${field.erased === true ? "erased" : "hidden"}</span>`;
  return shown(valueText(field.value));
}

function story(context: PageContext, facts: ExplainFacts, when: When): Html {
  const entries = timeLineOf(facts);
  const all = context.req.query("all") !== undefined;
  const some = all ? entries : entries.slice(0, entriesAtFirst);
  const rest = entries.length - some.length;
  const older = facts.operations.total - facts.operations.newest.length;
  return html`<h2 id="time-line">What happened</h2>
    ${timeLine(some, when)}
    ${rest === 0 ? "" : html`<p><a href="?all=1#time-line">Show ${counted(rest, "entry", "entries")} more</a></p>`}
    ${
      older === 0
        ? ""
        : html`<p class="soft">
            ${counted(older, "older operation")} of it: <code>crm-sync explain</code> and the reports have them.
          </p>`
    }`;
}

const verdictWords = { good: "As meant", wait: "Waits", bad: "Needs somebody" } as const;

function verdictCard(facts: ExplainFacts, when: When): Html {
  const verdict = verdictOf(facts, { terminal: false, zone: when.zone });
  const mood = moodOf(facts, verdict);
  const since = sinceWhen(facts);
  return html`<section class="card ${mood}" aria-label="How it stands">
    <p><span class="state ${mood}">${verdictWords[mood]}:</span> ${shown(verdict.headline)}</p>
    <p>${since === null ? "" : html`Since ${moment(since, when)}. `}Whose turn it is: ${shown(whoseTurn(verdict))}.</p>
    ${lines("Why", verdict.because)} ${lines("What to do", verdict.next)} ${actions(facts)}
  </section>`;
}

function lines(title: string, texts: readonly string[]): Html | "" {
  if (texts.length === 0) return "";
  return html`<h2>${title}</h2>
    ${list(texts.map((text) => shown(text)))}`;
}

function actions(facts: ExplainFacts): Html | "" {
  const links = [
    ...facts.quarantine
      .filter(({ state }) => state !== "resolved")
      .map(({ id }) => ({ path: pagePath.quarantine(id), text: `Quarantine ${id}` })),
    ...(facts.customer?.openOperations ?? []).map(({ id }) => ({ path: pagePath.settle(id), text: `Settle ${id}` })),
    ...ownHolds(facts)
      .filter(({ state }) => state === "open")
      .map(({ id }) => ({ path: pagePath.hold(id), text: `Hold ${id}` })),
    ...facts.similar.map(({ stream, key }) => ({ path: recordPath(stream, key), text: recordName(stream, key) })),
  ];
  if (links.length === 0) return "";
  return html`<p>${links.map(({ path, text }) => html`<a class="action" href="${path}">${shown(text)}</a> `)}</p>`;
}

const moodWords = { good: "went well", wait: "waits", bad: "in trouble" } as const;

function timeLine(entries: readonly TimeLineEntry[], when: When): Html {
  if (entries.length === 0) return html`<p class="soft">Nothing is known to have happened.</p>`;
  return html`<ol class="time-line">
    ${entries.map(
      ({ at, by, name, text, details, links, mood }) =>
        html`<li class="${by}">
          <div class="when">${moment(at, when)}</div>
          <div class="what">
            <span class="teller">${name === undefined ? tellers[by] : shown(name, 200)}</span>
            ${mood === undefined ? "" : html`<span class="state ${mood}">${moodWords[mood]}</span>`} ${shown(text)}
            ${list(details.map((detail) => shown(detail)))}
            ${links.map(({ path, text: name }) => html`<a href="${path}">${shown(name)}</a> `)}
          </div>
        </li>`,
    )}
  </ol>`;
}

/** Private values, shown only after the audit log has the request. */
interface ShownValues {
  version: number;
  erasedAt: string | null;
  values: readonly { field: string; value: string }[];
}

function privatePart(context: PageContext, facts: ExplainFacts, asked: ShownValues | undefined, when: When): Html | "" {
  if (facts.record === null) return "";
  const heading = html`<h2 id="private">Private values</h2>`;
  if (privateFields[facts.stream].length === 0)
    return html`${heading}
      <p class="soft">An order holds no personal data. Licence passwords are never shown.</p>`;
  if (asked !== undefined) return html`${heading} ${values(asked, when)}`;
  const hidden = (facts.versions[0]?.fields ?? []).filter((field) => "private" in field);
  const names = hidden.filter(({ name }) => privateFields[facts.stream].includes(name));
  if (names.length > 0 && names.every((field) => "erased" in field && field.erased))
    return html`${heading}
      <p>They were erased: ${shown(names.map(({ name }) => name).join(", "))}. Nobody can be shown them any more.</p>`;
  return html`${heading}
    <p>${counted(names.length, "value")} hidden: ${shown(names.map(({ name }) => name).join(", "))}.</p>
    ${wayToAsk(context, facts)}`;
}

function wayToAsk({ var: { person, csrf } }: PageContext, facts: ExplainFacts): Html {
  if (!person.mayAskForPrivate)
    return html`<p class="soft">${person.name} has no right to see them; the configuration says who has it.</p>`;
  return html`<form method="post" action="${recordPath(facts.stream, facts.key)}/private">
    <input type="hidden" name="csrf" value="${csrf}" />
    <button>Show private values</button>
    <span class="soft">That you asked is written into the audit log under the name ${person.name}.</span>
  </form>`;
}

function values({ version, erasedAt, values: found }: ShownValues, when: When): Html {
  if (erasedAt !== null) return html`<p>They were erased ${moment(erasedAt, when)}.</p>`;
  if (found.length === 0) return html`<p class="soft">Version ${version} has none.</p>`;
  return html`<dl class="private">
      ${found.map(
        ({ field, value }) =>
          html`<dt>${field}</dt>
            <dd>${shown(value)}</dd>`,
      )}
    </dl>
    <p class="soft">Of version ${version}. They go with this page; passwords are never shown.</p>`;
}
