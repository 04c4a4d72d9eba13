// Packs of any size for measurements: a chain of states with loops back, guards and artifacts.

import { stringify } from "yaml";

export function samplePack(size: { states: number; templateLength: number; json: boolean }): string {
  const prompts: Record<string, unknown> = {};
  const states: Record<string, unknown> = {};
  const filler = "Look at the report and decide what to do next. ".repeat(
    Math.ceil(size.templateLength / 47),
  );
  for (let i = 0; i < size.states; i++) {
    const last = i === size.states - 1;
    prompts[`prompt_${i}`] = {
      id: `prompt_${i}`,
      name: `Prompt ${i}`,
      version: "1.0.0",
      system_template: `${filler}\nReport: {{artifacts.report}}\nEmit Next or Back.`,
    };
    states[`state_${i}`] = last
      ? { prompt_task: `prompt_${i}`, terminal: true }
      : {
          prompt_task: `prompt_${i}`,
          ...(i % 10 === 5 && { max_visits: 3, on_max_visits: `state_${size.states - 1}` }),
          artifacts: { report: { type: "text/plain" } },
          on_event: { Next: `state_${i + 1}`, ...(i % 10 === 7 && { Back: `state_${i - 2}` }) },
        };
  }
  const pack = {
    id: "sample",
    name: "Sample",
    version: "1.0.0",
    template_engine: { version: "v1", syntax: "{{variable}}" },
    prompts,
    workflow: { version: 2, entry: "state_0", engine: { budget: { max_total_visits: 10_000 } }, states },
  };
  return size.json ? JSON.stringify(pack, null, 2) : stringify(pack);
}
