// A pack whose runs form trees: the lead calls an auditor, whose loop calls a guard, who waits for a person.

export const tree = `id: tree
name: Tree
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  lead: { id: lead, name: Lead, version: 1.0.0, system_template: Lead., tools: [auditor, clerk] }
  auditor: { id: auditor, name: Auditor, version: 1.0.0, system_template: Look., tools: [guard, clerk, auditor] }
  clerk: { id: clerk, name: Clerk, version: 1.0.0, system_template: Note. }
  guard: { id: guard, name: Guard, version: 1.0.0, system_template: Decide. }
workflow:
  version: 2
  entry: lead
  states:
    lead: { prompt_task: lead, max_visits: 4, on_max_visits: report, on_event: { Next: lead, Done: report } }
    report: { prompt_task: clerk, terminal: true }
    look:
      prompt_task: auditor
      max_visits: 3
      on_max_visits: verdict
      on_event: { Again: look, Found: verdict }
      artifacts: { finding: { type: text/plain } }
    verdict: { prompt_task: clerk, terminal: true }
    gate: { prompt_task: guard, orchestration: external, on_event: { Approved: verdict } }
agents:
  entry: lead
  members:
    lead: { description: Leads }
    auditor: { description: Audits, state: look }
    clerk: { description: Writes notes }
    guard: { description: Asks a person, state: gate }
`;

/** The lead calls the auditor (step 2), who calls the guard (step 3 of its run); later the clerk (step 5). */
export const script = `states:
  lead:
    - calls: [{ tool: auditor, args: { query: first } }]
    - event: Next
    - calls: [{ tool: clerk, args: { query: note } }]
    - event: Done
  look:
    - event: Again
    - calls: [{ tool: guard, args: { query: may we } }]
    - { artifacts: { finding: overflow }, event: Found }
  report: [{ text: reported }]
  verdict: [{ text: it is real }]
prompts:
  clerk: [{ text: noted }]
`;

export const files = { "tree.pack.yaml": tree, "s.yaml": script };
export const start = ["run", "tree.pack.yaml", "--script", "s.yaml"] as const;
