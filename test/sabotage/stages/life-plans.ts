import { lifePlans } from "../breaks/life-plans.ts";
import { stage } from "../stage.ts";

stage(lifePlans);
