"""The training loss: soft Dice plus binary cross-entropy, channel by channel."""

from monai.losses import DiceLoss
from torch import Tensor, nn


class DiceAndBinaryCrossEntropy(nn.Module):
    """Dice over the batch plus mean binary cross-entropy, for regions that lie inside one another.

        loss = mean_c (1 - 2 sum(p_c y_c) / (sum p_c + sum y_c)) + mean BCE(logit, y),   p = sigmoid(logit)

    Output and target are [batch, regions, X, Y, Z]; sums run over batch and space, so that a patch without a
    region does not make that region's Dice term undefined.

    MONAI's `DiceCELoss(sigmoid=True)` is not this: with more than one channel its cross-entropy is a softmax over
    the channels. TC, WT and ET are nested, an ET voxel is all three, so perfect logits there cost 3.3 a voxel under
    the softmax, and predicting WT alone everywhere costs nothing.

    Source: Milletari et al. 2016 (soft Dice); Isensee et al. 2018 (region-wise sigmoid with Dice and BCE on BraTS).
    """

    def __init__(self) -> None:
        super().__init__()
        self.dice = DiceLoss(sigmoid=True, batch=True)
        self.cross_entropy = nn.BCEWithLogitsLoss()

    def forward(self, output: Tensor, target: Tensor) -> Tensor:
        """The scalar loss; `target` may be uint8 or bool and is cast to the output's type."""
        target = target.to(output.dtype)
        total: Tensor = self.dice(output, target) + self.cross_entropy(output, target)
        return total
