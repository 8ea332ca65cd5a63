import { asking } from "../breaks/asking.ts";
import { stage } from "../stage.ts";

stage(asking);
