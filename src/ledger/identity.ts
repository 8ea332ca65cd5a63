import { exitCodes, Problem } from "../base/errors.ts";
import type { LedgerContext } from "./context.ts";

/** The first words of each sandbox's name. Alone it means a sandbox that gave no name. */
export const anySandbox = "the sandbox";

export class Identity {
  readonly #context: LedgerContext;

  constructor(context: LedgerContext) {
    this.#context = context;
  }

  /** The name of this ledger. It never changes, and plan files contain it. */
  async name(): Promise<string> {
    const known = this.#context.meta("ledger");
    if (known !== undefined) return known;
    const id = this.#context.ids.next("ledger");
    await this.#context.setMeta("ledger", id);
    return this.#context.meta("ledger") ?? id;
  }

  /**
   * Refuses other services later: work done on one platform would count as done on the other. `accept`: a person allows
   * the change. The head is flushed, so that a ledger lost in its first run is noticed.
   */
  async requirePlatform(platform: string, accept?: { by: string }): Promise<void> {
    const known = this.#context.meta("platform");
    if (known === platform || (platform === anySandbox && known?.startsWith(anySandbox) === true)) return;
    const named = known === anySandbox && platform.startsWith(anySandbox);
    if (known !== undefined && !named && accept === undefined) {
      const sandboxes = known.startsWith(anySandbox) && platform.startsWith(anySandbox);
      throw new Problem({
        code: "ledger.other-platform",
        message:
          `the ledger ${this.#context.path} belongs to ${known}, but this command would use ${platform}. Nothing ` +
          "was sent",
        cure: sandboxes
          ? "start that sandbox again with its own store (sandbox.db beside the ledger, or --store FILE), or delete " +
            "this ledger together with its sandbox"
          : "give each platform its own ledger (ledger.path). If the same services only have a new address: " +
            "`crm-sync accept-platform`",
        exitCode: exitCodes.ledgerRefused,
      });
    }
    await this.#context.write(() => {
      this.#context.database
        .prepare(
          "insert into meta (key, value) values ('platform', ?) on conflict (key) do update set value = excluded.value",
        )
        .run(platform);
      const body = { platform, before: known ?? null, ...accept };
      this.#context.audit.append({ at: this.#context.now, kind: "platform", subject: "ledger", body });
    });
    this.#context.flushHeads();
  }
}
