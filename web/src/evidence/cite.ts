// The page and the papers that it builds on, as BibTeX.
const PAPERS = `@misc{fujii2024accelerating,
  title         = {Accelerating Large Language Model Training with {4D} Parallelism and Memory Consumption Estimator},
  author        = {Fujii, Kazuki and Watanabe, Kohei and Yokota, Rio},
  year          = {2024},
  eprint        = {2411.06465},
  archivePrefix = {arXiv},
  url           = {https://arxiv.org/abs/2411.06465}
}

@misc{yim2024pipette,
  title         = {Pipette: Automatic Fine-grained Large Language Model Training Configurator for Real-World Clusters},
  author        = {Yim, Jinkyu and Song, Jaeyong and Choi, Yerim and Lee, Jaebeen and Jung, Jaewon and Jang, Hongsun and Lee, Jinho},
  year          = {2024},
  eprint        = {2405.18093},
  archivePrefix = {arXiv},
  url           = {https://arxiv.org/abs/2405.18093}
}
`;

export function bibtex(address: string, version: string, date: Date): string {
    const day = date.toISOString().slice(0, 10);
    const fields = [
        ['title', '{Fourfold}: memory, time and placement of {LLM} training'],
        ['year', day.slice(0, 4)],
        ...(version ? [['version', version]] : []),
        ['url', address],
        ['note', `Visited ${day}`],
    ];
    const list = fields.map(([key = '', value]) => `  ${key.padEnd(7)} = {${value}}`).join(',\n');
    return `@software{fourfold,\n${list}\n}\n\n${PAPERS}`;
}
