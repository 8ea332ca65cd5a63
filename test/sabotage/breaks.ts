import type { Breaks } from "./break.ts";
import { access } from "./breaks/access.ts";
import { answers } from "./breaks/answers.ts";
import { asking } from "./breaks/asking.ts";
import { audit } from "./breaks/audit.ts";
import { closing } from "./breaks/closing.ts";
import { databases } from "./breaks/databases.ts";
import { figures } from "./breaks/figures.ts";
import { firstHour } from "./breaks/first-hour.ts";
import { backups } from "./breaks/backups.ts";
import { books } from "./breaks/books.ts";
import { keeping } from "./breaks/keeping.ts";
import { lifeMoves } from "./breaks/life-moves.ts";
import { lifeOrders } from "./breaks/life-orders.ts";
import { lifeRemovals } from "./breaks/life-removals.ts";
import { lifeRenewals } from "./breaks/life-renewals.ts";
import { lifeAsync } from "./breaks/life-async.ts";
import { lifeAssumptions } from "./breaks/life-assumptions.ts";
import { lifeLocks } from "./breaks/life-locks.ts";
import { lifeByHand } from "./breaks/life-hand.ts";
import { lifeOfStaff } from "./breaks/life-staff.ts";
import { lifePlans } from "./breaks/life-plans.ts";
import { lifeBase } from "./breaks/life-base.ts";
import { lifeRules } from "./breaks/life-rules.ts";
import { lifeDrift } from "./breaks/life-drift.ts";
import { lifeVerify } from "./breaks/life-verify.ts";
import { lists } from "./breaks/lists.ts";
import { locking } from "./breaks/locking.ts";
import { pagesOfWork } from "./breaks/pages-of-work.ts";
import { planning } from "./breaks/planning.ts";
import { presets } from "./breaks/presets.ts";
import { reading } from "./breaks/reading.ts";
import { rejecting } from "./breaks/rejecting.ts";
import { running } from "./breaks/running.ts";
import { sending } from "./breaks/sending.ts";
import { serving } from "./breaks/serving.ts";
import { settling } from "./breaks/settling.ts";
import { measuring } from "./breaks/measuring.ts";
import { naming } from "./breaks/naming.ts";
import { skipping } from "./breaks/skipping.ts";
import { standing } from "./breaks/standing.ts";
import { telling } from "./breaks/telling.ts";
import { tracing } from "./breaks/tracing.ts";
import { today } from "./breaks/today.ts";

const groups = [
  sending,
  settling,
  answers,
  asking,
  planning,
  rejecting,
  keeping,
  naming,
  skipping,
  standing,
  audit,
  closing,
  figures,
  firstHour,
  backups,
  books,
  running,
  telling,
  tracing,
  today,
  serving,
  access,
  measuring,
  pagesOfWork,
  reading,
  databases,
  presets,
  locking,
  lists,
  lifeAsync,
  lifeLocks,
  lifeVerify,
  lifeDrift,
  lifeByHand,
  lifeOfStaff,
  lifeBase,
  lifeRules,
  lifeOrders,
  lifeRenewals,
  lifeRemovals,
  lifeMoves,
  lifeAssumptions,
  lifePlans,
];

/** Every deliberate break of the program that a named test finds. */
export const breaks: Breaks = Object.assign({}, ...groups);

/** The first break of each group: a sample. */
export const fewBreaks: Breaks = Object.fromEntries(groups.flatMap((group) => Object.entries(group).slice(0, 1)));

/** Set for the vitest that runs the broken programs: which of them it runs. */
export const sampleVariable = "SABOTAGE_SAMPLE";
export const triedBreaks = process.env[sampleVariable] === undefined ? breaks : fewBreaks;
