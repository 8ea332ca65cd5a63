import { exitCodes, Problem } from "../base/errors.ts";
import type { LedgerContext } from "./context.ts";

/** What the name of every sandbox begins with; alone it stands for one that did not say which it is. */
export const anySandbox = "the sandbox";

/** What the ledger is called, which services it speaks of. */
export class Identity {
  readonly #context: LedgerContext;

  constructor(context: LedgerContext) {
    this.#context = context;
  }

  /** What this ledger is called: fixed when it was made, and named in plan files. */
  async name(): Promise<string> {
    const known = this.#context.meta("ledger");
    if (known !== undefined) return known;
    const id = this.#context.ids.next("ledger");
    await this.#context.setMeta("ledger", id);
    return this.#context.meta("ledger") ?? id;
  }

  /**
   * Ties the ledger to the services it speaks of, the first time, and refuses any others ever after: what was done on
   * one platform would be taken for done on the other. `accept` changes the tie by a person's word. The head is kept,
   * so that a ledger that is lost during its first run already is missed.
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
