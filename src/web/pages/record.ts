import { html } from "hono/html";
import { askForPrivate } from "../../requests/private-shown.ts";
import type { Dashboard } from "../../operate/dashboard.ts";
import { toInstant } from "../../base/clock.ts";
import { messageOf, Problem } from "../../base/errors.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Inquiry } from "../../inquiry/inquiry.ts";
import { claimedNumbers, isTold } from "../../report/explain.ts";
import type { ExplainFacts, FieldFacts } from "../../report/explain.ts";
import { idOfSegment, pagePath } from "../../report/page-links.ts";
import { valueText } from "../../report/runs.ts";
import { counted, recordName } from "../../report/text.ts";
import { timeLineOf } from "../../report/time-line.ts";
import { needs } from "../access/needs.ts";
import { framed } from "../frame.ts";
import type { Content } from "../frame.ts";
import type { Html, PageContext, Routes } from "../page.ts";
import { privatePart } from "../parts/private-fields.ts";
import type { ShownValues } from "../parts/private-fields.ts";
import { stateWord } from "../parts/record-list.ts";
import { timeLine } from "../parts/time-line.ts";
import { verdictCard } from "../parts/verdict.ts";
import { moment, shown } from "../shown.ts";

/** So many entries of a time line stand on a page before all of them are asked for. */
const entriesAtFirst = 40;
const mostFields = 60;
const toldAlready = ["id", "namespace", "customerId", "customerNamespace"];

export interface When {
  zone: string;
  now: string;
}

/** What only the pages of one stream have, between what the CRM says and the time line. */
export type OwnSections = (
  inquiry: Inquiry,
  facts: ExplainFacts,
  asked: { when: When; query: (name: string) => string | undefined },
) => Promise<Html | "">;

/** The page of a record of one stream, and of its private values once they are asked for. */
export function recordRoutes(
  routes: Routes,
  dashboard: Dashboard,
  { stream, page, own }: { stream: Stream; page: string; own: OwnSections },
): void {
  const answer = async (
    context: PageContext,
    key: RecordKey,
    more: { asked?: ShownValues | undefined; notice?: Content["notice"] } = {},
  ): Promise<Response> => {
    const when = { zone: dashboard.application.config.zone, now: toInstant(dashboard.clock.now()) };
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

function notShown(error: unknown): Content["notice"] {
  const cure = error instanceof Problem ? error.cure : "The log of the program says more; then ask again.";
  return { kind: "failed", text: "That you asked could not be written down, so nothing is shown.", cure };
}

function titleOf(stream: Stream, key: RecordKey): string {
  const name = recordName(stream, key).replace(/^staff /u, "person ");
  const cut = name.length > 120 ? `${name.slice(0, 120)}…` : name;
  return cut.slice(0, 1).toUpperCase() + cut.slice(1);
}

/** What the CRM says of it now. Fields of an order's instances stand in its tree. */
function inTheCrm(facts: ExplainFacts, when: When): Html | "" {
  const { record, versions, customer, read, claims } = facts;
  if (record === null) return "";
  const fields = (versions[0]?.fields ?? []).filter(
    ({ name }) => !name.startsWith("instances[") && !toldAlready.includes(name),
  );
  const run = (id: string): Html => html`<a href="${pagePath.run(id)}">${shown(id)}</a>`;
  return html`<h2>In the CRM</h2>
    <dl>
      <dt>State</dt>
      <dd>${stateWord(record)}, version ${record.version}, from the source ${shown(record.source)}</dd>
      ${
        facts.stream === "customers" || customer === null
          ? ""
          : html`<dt>Customer</dt>
              <dd>
                <a href="${pagePath.customer(customer.key.namespace, customer.key.id)}"
                  >${shown(`${customer.key.namespace}/${customer.key.id}`, 200)}</a
                >
                (${customer.record?.state ?? "not in the CRM"})
              </dd>`
      }
      <dt>First seen</dt>
      <dd>${moment(record.firstSeen, when)}</dd>
      <dt>Changed</dt>
      <dd>
        ${moment(record.changedAt, when)} ${record.changedRun === null ? "" : html`by run ${run(record.changedRun)}`}
      </dd>
      ${
        record.outcome === null
          ? ""
          : html`<dt>Decided</dt>
              <dd>${shown(record.outcome.decision)} by run ${run(record.outcome.run)}</dd>`
      }
      ${
        read === null
          ? ""
          : html`<dt>Last read</dt>
              <dd>
                ${moment(read.startedAt, when)},
                ${read.finishedAt === null ? "not ended" : read.complete ? "complete" : "incomplete"}
              </dd>`
      }
      ${claims.map(
        (claim) =>
          html`<dt>Should hold</dt>
            <dd>${shown(claim.claim)} (${shown(claimedNumbers(claim))})</dd>`,
      )}
      ${fields.slice(0, mostFields).map(
        (field) =>
          html`<dt>${shown(field.name, 200)}</dt>
            <dd>${fieldValue(field)}</dd>`,
      )}
    </dl>
    ${fields.length > mostFields ? html`<p class="soft">… and ${fields.length - mostFields} more fields</p>` : ""}`;
}

function fieldValue(field: FieldFacts): Html {
  if ("private" in field) return html`<span class="none">${field.erased === true ? "erased" : "hidden"}</span>`;
  return shown(valueText(field.value));
}

/** Everything that happened, as many entries as are asked for. */
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
