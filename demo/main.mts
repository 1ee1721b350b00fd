// `npm start`
import { startForPerson } from './start.mts';

await startForPerson();
