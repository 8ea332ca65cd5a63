import { lifeDrift } from "../breaks/life-drift.ts";
import { stage } from "../stage.ts";

stage(lifeDrift);
