import { lifeRenewals } from "../breaks/life-renewals.ts";
import { stage } from "../stage.ts";

stage(lifeRenewals);
