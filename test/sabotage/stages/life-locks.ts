import { lifeLocks } from "../breaks/life-locks.ts";
import { stage } from "../stage.ts";

stage(lifeLocks);
