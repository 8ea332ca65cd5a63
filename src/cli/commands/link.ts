import { deciderOf, decisionOf, parseKey, type DecisionWords } from "../words.ts";
import type { Linked, LinkRequest } from "../../requests/link.ts";
import { type ExitCode, usage } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import { counted, printable } from "../../report/text.ts";
import { withApplication, withLedger, type Invocation } from "../command.ts";
import { byWhom, example, withReason, type Register } from "../command-line.ts";

interface LinkWords extends DecisionWords {
  channelCustomerId?: string | undefined;
  dryRun?: boolean | undefined;
}

interface UnlinkWords extends DecisionWords {
  keepOrders?: boolean | undefined;
}

export const addLink: Register = (program, carryOut) => {
  program
    .command("link")
    .description("link a customer to its enterprise on the platform")
    .argument("<customer>", "ID, or NAMESPACE/ID")
    .argument("<enterprise>", "the enterprise's global id, as E3 shows it")
    .option("--channel-customer-id <number>", "the number under which E3 shows it (default: the customer's own)")
    .option(...withReason)
    .option(...byWhom)
    .option("--dry-run", "read the platform and say what would be linked, and write nothing")
    .addHelpText(
      "after",
      `${example('crm-sync link ALFKI 7100000000000000003 --reason "the service desk named the right one"')}
E3 has to show the enterprise under the customer's number, and M5 has to answer for it. This sends nothing: the next
run reads the enterprise and goes on from there. It is refused during a run (exit 75).`,
    )
    .action((customer, enterprise, options) =>
      carryOut((invocation) => linkCommand(invocation, customer, enterprise, options)),
    );
  program
    .command("unlink")
    .description("take the link of a customer with its enterprise away: nothing is sent for it until it is linked")
    .argument("<customer>", "ID, or NAMESPACE/ID")
    .option("--keep-orders", "although we placed orders or assignments there: they stay, and the ledger keeps them")
    .option(...withReason)
    .option(...byWhom)
    .addHelpText("after", example('crm-sync unlink ALFKI --reason "it was linked with the wrong enterprise"'))
    .action((customer, options) => carryOut((invocation) => unlinkCommand(invocation, customer, options)));
};

async function linkCommand(
  invocation: Invocation,
  customer: string,
  enterprise: string,
  words: LinkWords,
): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const request: LinkRequest = {
      customer: parseKey(customer, application.config.namespace),
      enterprise: enterprise.trim(),
      channelCustomerId: words.channelCustomerId,
      ...decisionOf(words),
    };
    application.requireLedger();
    const { linkByHand } = await import("../../requests/link.ts");
    const dryRun = words.dryRun === true;
    const linked = await linkByHand(application, request, { dryRun, signal: invocation.signal });
    return {
      json: { ...linked, customer: formatKey(linked.customer), dryRun },
      text: printable(linkedText(linked, dryRun)),
    };
  });
}

function linkedText(linked: Linked, dryRun: boolean): string {
  const { customer, enterpriseGlobalId, channelCustomerId, members, renumbered, numberInCrm } = linked;
  const how = dryRun ? "would be linked" : "is linked";
  const what =
    `${formatKey(customer)} ${how} with the enterprise ${enterpriseGlobalId} under the channel customer number ` +
    `${channelCustomerId}.`;
  const then = renumbered
    ? "The ledger keeps what it knows of the enterprise."
    : `It has ${counted(members, "member")}; its assets are read before anything is placed for it.`;
  if (numberInCrm === undefined) return `${what} ${then}`;
  return (
    `${what} ${then} The CRM says the channel customer number ${numberInCrm}: its new orders wait ` +
    "(enterprise.renumbered) until the CRM says the same, or it is linked under the number of the CRM."
  );
}

async function unlinkCommand(invocation: Invocation, customer: string, words: UnlinkWords): Promise<ExitCode> {
  return await withApplication(invocation, async (application) => {
    const request = {
      customer: parseKey(customer, application.config.namespace),
      ...decisionOf(words),
      keepOrders: words.keepOrders === true,
    };
    application.requireLedger();
    const { unlinkByHand } = await import("../../requests/link.ts");
    const unlinked = await unlinkByHand(application, request);
    const name = formatKey(unlinked.customer);
    const { orders, assignments, enterpriseGlobalId } = unlinked;
    const stands =
      orders + assignments > 0
        ? ` ${counted(orders, "order")} and ${counted(assignments, "assignment")} stay there.`
        : "";
    return {
      json: { ...unlinked, customer: name },
      text: printable(
        `${name} is no longer linked with the enterprise ${enterpriseGlobalId}.${stands} Nothing is sent ` +
          `for it until \`crm-sync link ${name} ENTERPRISE --reason TEXT\`.`,
      ),
    };
  });
}

export const addReassign: Register = (program, carryOut) => {
  program
    .command("reassign")
    .description("give the records of a source that is configured no longer to another one, or let go of them")
    .argument("<source>", "the name that the source had")
    .option("--to <source>", "the configured source that reads them now")
    .option("--release", "no source will read them again: nothing changes for them or their licences", false)
    .option(...withReason)
    .option(...byWhom)
    .addHelpText(
      "after",
      `${example('crm-sync reassign hr --to people --reason "renamed"')}
The records keep their keys. Records that the next full reads of the other source do not have count as deleted by the
usual rules.`,
    )
    .action((source, words) => carryOut((invocation) => reassignCommand(invocation, source, words)));
};

interface ReassignWords extends DecisionWords {
  to?: string | undefined;
  release: boolean;
}

async function reassignCommand(invocation: Invocation, from: string, words: ReassignWords): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const { to, release } = words;
    if ((to === undefined) !== release)
      throw usage("reassign needs either --to or --release", `crm-sync reassign ${from} --to SOURCE --reason TEXT`);
    const whose = decisionOf(words);
    const { reassign } = await import("../../requests/decisions.ts");
    const given = await reassign(application, { from, to }, whose);
    const lines = given.map(
      ({ stream, count }) =>
        `${stream}: ${counted(count, "record")} of ${from} ` +
        (to === undefined ? "stay as they are; no source reads them" : `are of ${to} now`),
    );
    return { json: { from, to: to ?? null, records: given }, text: lines.join("\n") };
  });
}

export const addAcceptPlatform: Register = (program, carryOut) => {
  program
    .command("accept-platform")
    .description("say that the services of this configuration are the ledger's own, at a new address")
    .option(...byWhom)
    .addHelpText("after", example("crm-sync accept-platform --by anna.lee"))
    .action((options) => carryOut((invocation) => acceptPlatform(invocation, options.by)));
};

async function acceptPlatform(invocation: Invocation, by: string | undefined): Promise<ExitCode> {
  return await withLedger(invocation, async (application) => {
    const who = deciderOf(by);
    const ledger = await application.existingLedger();
    const { platformName } = await import("../../app/platform-name.ts");
    const platform = await platformName(application);
    await ledger.identity.requirePlatform(platform, { by: who });
    return {
      json: { ledger: application.ledgerPath, platform },
      text: `${application.ledgerPath} belongs to ${platform}`,
    };
  });
}
