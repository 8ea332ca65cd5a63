import { lifeVerify } from "../breaks/life-verify.ts";
import { stage } from "../stage.ts";

stage(lifeVerify);
