/// A story of about a minute and a half.
enum Story {
    static let text = """
        Once upon a time there was a lighthouse at the end of a long stone pier. The keeper was an old woman called Ada. \
        Every evening she climbed two hundred steps and lit the lamp. Every morning she climbed them again and put it out. \
        In between she wrote down the name of each ship that passed. She knew them all by the sound of their engines. \
        One night in November a sound came over the water that she did not know. It was no engine and no sail. \
        It was somebody singing, far away and very slowly. Ada opened the window and listened. \
        The song came nearer until it was just below the tower. She took her lantern and went down to the shore. \
        There was a small green boat with nobody in it. On the bench lay a letter with her own name on it. \
        She sat down on the cold stones and read it. The letter said that the lamp had saved a fisherman thirty years ago. \
        He had never found the way to thank her. So he had built a boat that would find the way by itself. \
        Ada folded the letter and put it into her coat. Then she climbed into the boat, which was exactly her size. \
        The singing began again, and now she knew that it was the wind in the oars. She rowed around the tower once. \
        From the water the light was brighter than she had ever thought. She stayed until the sun came up. \
        Then she climbed the two hundred steps and put out the lamp. And in her book she wrote the name of the green boat.
        """
}
