// The best plans: one question to the core about everything that it can choose, and what the reader asks about its answer.
import type { JobRequest, PlanRequest, Ranked } from '../core/api';
import type { Core } from '../core/client';
import { latestOnly } from '../core/client';
import type { Only, Ranking } from './ranked';
import { noRanking, planAt, rows, settingsOf } from './ranked';

interface Surroundings {
    searches: Pick<Core, 'rank' | 'versus'>;
    asked(): JobRequest; // the request as it is now, without filters; what the core can choose is on "auto"
    auto(): PlanRequest; // all of that
    only(): Only;
    ranking(): Ranking;
    update(changes: Partial<Ranking>): void;
    recover(error: unknown, again: () => void): void;
}

interface Question {
    request: JobRequest;
    filters: Only;
    text: string;
}

export function createRankings({ searches, asked, auto, only, ranking, update, recover }: Surroundings) {
    let answered = ''; // the request that the ranking answers, or is about to

    // The plans that are as fast as the first need no comparison: the next one does.
    const compareWithNext = async ({ request, text }: Question, ranked: Ranked): Promise<void> => {
        const next = Math.max(1, ranked.equally_good);
        if (next >= rows(ranked)) return;
        const lead = await searches.versus({ ...request, ...settingsOf(planAt(ranked, 0)), other: settingsOf(planAt(ranked, next)) });
        if (text === answered && lead.ok) update({ lead });
    };

    const failed = (error: unknown): void => {
        answered = '';
        recover(error, ask);
    };

    const askLatest = latestOnly(
        ({ request, filters }: Question) => searches.rank({ ...request, only: filters }),
        (ranked, question) => {
            if (!ranked.ok) return update({ problems: ranked.problems });
            update({ ...noRanking, ranked, only: question.filters });
            compareWithNext(question, ranked).catch(failed);
        },
        failed,
    );

    const ask = (): void => {
        const request = asked();
        const filters = only();
        const text = JSON.stringify([request, filters]);
        if (text === answered) return;
        answered = text;
        update({ stale: ranking().ranked !== null, problems: [] });
        askLatest({ request, filters, text });
    };

    // The first plan of the list against the best one with these degrees.
    const whyNot = async (degrees: Ranking['asked']): Promise<void> => {
        const { ranked } = ranking();
        if (!degrees || !ranked || rows(ranked) === 0) return update({ asked: null, answer: null });
        update({ asked: degrees, answer: null });
        const other = { ...auto(), ...degrees };
        try {
            const answer = await searches.versus({ ...asked(), ...settingsOf(planAt(ranked, 0)), other });
            if (ranking().asked === degrees) update({ answer });
        } catch (error) {
            recover(error, () => whyNot(degrees));
        }
    };
    return { ask, whyNot };
}
